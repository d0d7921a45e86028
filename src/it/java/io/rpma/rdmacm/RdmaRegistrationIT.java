// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaAccess.LOCAL_WRITE;
import static io.rpma.rdmacm.RdmaAccess.REMOTE_ATOMIC;
import static io.rpma.rdmacm.RdmaAccess.REMOTE_READ;
import static io.rpma.rdmacm.RdmaAccess.REMOTE_WRITE;
import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.Name.name;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.getLong;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.put;
import static io.rpma.testing.RdmaPair.putLong;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatIndexOutOfBoundsException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
import io.rpma.testing.ArenaBuffer;
import io.rpma.testing.Eventually;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Registering memory of every kind with the device of an id. */
class RdmaRegistrationIT {
    private static final int SIZE = 1 << 16;
    private static final RdmaAccess[] ALL = RdmaAccess.values();

    /** The values on the two sides before an operation. */
    private static final long HERE = 7;

    private static final long THERE = 40;

    /** The purpose of a registration. */
    private enum Use {
        MSGS("rdma_reg_msgs", RdmaMr::regMsgs, RdmaMr::regMsgs, RdmaMr::regMsgs, LOCAL_WRITE),
        READ("rdma_reg_read", RdmaMr::regRead, RdmaMr::regRead, RdmaMr::regRead, LOCAL_WRITE, REMOTE_READ),
        WRITE("rdma_reg_write", RdmaMr::regWrite, RdmaMr::regWrite, RdmaMr::regWrite, LOCAL_WRITE, REMOTE_WRITE),
        ANY(
                "ibv_reg_mr",
                (id, memory) -> RdmaMr.reg(id, memory, ALL),
                (id, memory, offset, length) -> RdmaMr.reg(id, memory, offset, length, ALL),
                (id, buffer) -> RdmaMr.reg(id, buffer, ALL),
                ALL);

        final String operation;
        private final BiFunction<RdmaId, RpmaMemory, RdmaMr> ofMemory;
        private final OfPart ofPart;
        private final BiFunction<RdmaId, ByteBuffer, RdmaMr> ofBuffer;
        private final Set<RdmaAccess> access;

        Use(
                String operation,
                BiFunction<RdmaId, RpmaMemory, RdmaMr> ofMemory,
                OfPart ofPart,
                BiFunction<RdmaId, ByteBuffer, RdmaMr> ofBuffer,
                RdmaAccess... access) {
            this.operation = operation;
            this.ofMemory = ofMemory;
            this.ofPart = ofPart;
            this.ofBuffer = ofBuffer;
            this.access = Set.of(access);
        }

        RdmaMr register(RdmaId id, RpmaMemory memory) {
            return ofMemory.apply(id, memory);
        }

        RdmaMr register(RdmaId id, RpmaMemory memory, long offset, long length) {
            return ofPart.register(id, memory, offset, length);
        }

        RdmaMr register(RdmaId id, ByteBuffer buffer) {
            return ofBuffer.apply(id, buffer);
        }
    }

    /** A registration of a part of a memory. */
    @FunctionalInterface
    private interface OfPart {
        RdmaMr register(RdmaId id, RpmaMemory memory, long offset, long length);
    }

    /** The argument that names the memory. */
    private enum Form {
        MEMORY,
        PART,
        BUFFER,
        ADDRESS
    }

    /** A method that registers memory. */
    private record Registration(Use use, Form form) {
        /** Registers all of the memory. */
        RdmaMr register(RdmaId id, RpmaMemory memory) {
            if (form == Form.MEMORY) {
                return use.register(id, memory);
            }
            if (form == Form.PART) {
                return use.register(id, memory, 0, memory.size());
            }
            return form == Form.BUFFER
                    ? use.register(id, memory.buffer())
                    : RdmaMr.reg(id, memory.address(), memory.size(), memory, ALL);
        }
    }

    /** The operations of the other side on a region. */
    private enum Remote {
        READ(REMOTE_READ, THERE, THERE) {
            @Override
            boolean post(RdmaQp qp, RdmaMr here, RdmaMr there) {
                return qp.postRead(here, 0, Long.BYTES, F_SIGNALED, there.address(), there.rkey(), 1);
            }
        },
        WRITE(REMOTE_WRITE, HERE, HERE) {
            @Override
            boolean post(RdmaQp qp, RdmaMr here, RdmaMr there) {
                return qp.postWrite(here, 0, Long.BYTES, F_SIGNALED, there.address(), there.rkey(), 1);
            }
        },
        ADD(REMOTE_ATOMIC, THERE, THERE + 2) {
            @Override
            boolean post(RdmaQp qp, RdmaMr here, RdmaMr there) {
                return qp.postFetchAndAdd(here, 0, F_SIGNALED, there.address(), there.rkey(), 2, 1);
            }
        };

        final RdmaAccess access;
        /** The values on the two sides after the operation. */
        final long here;

        final long there;

        Remote(RdmaAccess access, long here, long there) {
            this.access = access;
            this.here = here;
            this.there = there;
        }

        abstract boolean post(RdmaQp qp, RdmaMr here, RdmaMr there);

        /** Performs the operation from the client on a region of the server. */
        void assertDone(RdmaPair pair, RdmaMr region) throws InterruptedException {
            assertEnds(pair, region, RpmaWcStatus.SUCCESS, here);
        }

        void assertRefused(RdmaPair pair, RdmaMr region) throws InterruptedException {
            assertEnds(pair, region, RpmaWcStatus.REM_ACCESS_ERR, HERE);
        }

        private void assertEnds(RdmaPair pair, RdmaMr region, RpmaWcStatus status, long expected)
                throws InterruptedException {
            putLong(pair.clientMemory, 0, HERE);
            assertThat(post(pair.client.qp(), pair.clientMr, region)).isTrue();
            sent(pair.client.qp(), 1, status);
            assertThat(getLong(pair.clientMemory, 0)).isEqualTo(expected);
        }
    }

    private RdmaId id;

    static Stream<Registration> registrations() {
        Stream<Registration> forAllUses = Stream.of(Use.values())
                .flatMap(
                        use -> Stream.of(Form.MEMORY, Form.PART, Form.BUFFER).map(form -> new Registration(use, form)));
        return Stream.concat(forAllUses, Stream.of(new Registration(Use.ANY, Form.ADDRESS)));
    }

    /** The registrations that know the {@link RpmaMemory} of their memory. */
    static Stream<Registration> registrationsOfMappings() {
        return registrations().filter(registration -> registration.form != Form.BUFFER);
    }

    static Stream<Arguments> refusals() {
        return registrations()
                .flatMap(registration -> Stream.of(Remote.values())
                        .filter(remote -> !registration.use.access.contains(remote.access))
                        .map(remote -> Arguments.of(registration, remote)));
    }

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void open() {
        id = RdmaId.create(RdmaPortSpace.TCP);
        id.bindAddr(RdmaPair.address(0));
    }

    /** Fails if a refused registration keeps the id open. */
    @AfterEach
    void close() {
        if (id != null) {
            id.close();
        }
    }

    @Tag("atomics")
    @ParameterizedTest
    @MethodSource("registrations")
    void regionsAreOfUseForWhatTheyAreRegisteredFor(Registration registration) throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr region = registration.register(pair.server, memory)) {
            assertThat(region.address()).isEqualTo(memory.address());
            assertThat(region.size()).isEqualTo(SIZE);

            pair.server.qp().postRecv(region, SIZE - 7, 7, 2);
            pair.client.qp().postSendInline(inline("message"), 7, F_SIGNALED, 3);
            sent(pair.client.qp(), 3);
            received(pair.server.qp(), 2);
            assertThat(get(memory, SIZE - 7, 7)).isEqualTo("message");

            for (Remote remote : Remote.values()) {
                if (registration.use.access.contains(remote.access)) {
                    putLong(memory, 0, THERE);
                    remote.assertDone(pair, region);
                    assertThat(getLong(memory, 0)).as(remote.name()).isEqualTo(remote.there);
                }
            }
        }
    }

    @Tag("atomics")
    @Tag("remote-errors")
    @ParameterizedTest
    @MethodSource("refusals")
    void regionsAreOfNoOtherUse(Registration registration, Remote remote) throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr region = registration.register(pair.server, memory)) {
            putLong(memory, 0, THERE);
            remote.assertRefused(pair, region);
            assertThat(getLong(memory, 0)).isEqualTo(THERE);
        }
    }

    @Test
    void aRegionForNothingIsASource() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr source = RdmaMr.reg(pair.client, memory)) {
            put(memory, 100, "source");
            pair.client.qp().postWrite(source, 100, 6, F_SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), 1);
            sent(pair.client.qp(), 1);
            assertThat(get(pair.serverMemory, 0, 6)).isEqualTo("source");
        }
    }

    @ParameterizedTest
    @EnumSource
    void theRemainingBytesOfABuffer(Use use) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            ByteBuffer buffer = memory.buffer().position(100).limit(900);
            try (RdmaMr region = use.register(id, buffer)) {
                buffer.clear();
                assertThat(region.address()).isEqualTo(memory.address() + 100);
                assertThat(region.size()).isEqualTo(800);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPartOfAMemory(Use use) throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr part = use.register(pair.server, memory, 5001, 10)) {
            assertThat(part.address()).isEqualTo(memory.address() + 5001);
            assertThat(part.size()).isEqualTo(10);
            pair.server.qp().postRecv(part, 3, 7, 2);
            pair.client.qp().postSendInline(inline("message"), 7, F_SIGNALED, 3);
            sent(pair.client.qp(), 3);
            received(pair.server.qp(), 2);
            assertThat(get(memory, 5000, 12)).isEqualTo("\0\0\0\0message\0");
            assertThatIndexOutOfBoundsException()
                    .isThrownBy(() -> pair.server.qp().postRecv(part, 4, 7, 2))
                    .withMessageContaining("bytes 4 to 4 + 7 of the local region, which has 10 bytes");
            assertThatIllegalStateException()
                    .isThrownBy(memory::close)
                    .withMessageContaining(part.object().toString());
        }
    }

    /** The device checks the range, not only the page. */
    @Tag("remote-errors")
    @Test
    void theOtherSideHasNoAccessBesideThePart() throws InterruptedException {
        for (int beside : new int[] {-8, 8}) {
            try (RdmaPair pair = RdmaPair.connect();
                    RpmaMemory memory = RpmaMemory.allocate(SIZE);
                    RdmaMr part = RdmaMr.regWrite(pair.server, memory, 64, 8)) {
                pair.client.qp().postWriteInline(inline("in range"), 8, F_SIGNALED, part.address(), part.rkey(), 1);
                sent(pair.client.qp(), 1);
                assertThat(get(memory, 64, 8)).isEqualTo("in range");
                pair.client
                        .qp()
                        .postWriteInline(inline("outside!"), 8, F_SIGNALED, part.address() + beside, part.rkey(), 2);
                sent(pair.client.qp(), 2, RpmaWcStatus.REM_ACCESS_ERR);
                assertThat(get(memory, 64 + beside, 8)).isEqualTo("\0".repeat(8));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 1",
        "0, -1",
        "0, 65537",
        "1, 65536",
        "65536, 1",
        "65537, 0",
        "4294967296, 1",
        "9223372036854775807, 1",
        "1, 9223372036854775807",
        "-9223372036854775808, -9223372036854775808"
    })
    void partsThatAreNotInTheMemory(long offset, long length) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            for (Use use : Use.values()) {
                assertThatIndexOutOfBoundsException()
                        .isThrownBy(() -> use.register(id, memory, offset, length))
                        .withMessageContaining(Long.toString(offset))
                        .withMessageContaining(Long.toString(length))
                        .withMessageContaining("65536");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, SIZE})
    void aPartHasAByte(long offset) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            for (Use use : Use.values()) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> use.register(id, memory, offset, 0))
                        .withMessageStartingWith("a region has at least 1 byte and ends before 2^63: 0 bytes");
            }
        }
    }

    private static void assertReadOnly(ThrowingCallable registration) {
        assertThatIllegalArgumentException()
                .isThrownBy(registration)
                .withMessage("read-only memory can be registered for REMOTE_READ at most");
    }

    @ParameterizedTest
    @EnumSource
    void buffersThatCantBeRegistered(Use use) {
        for (ByteBuffer bad : List.of(
                ByteBuffer.allocate(8),
                ByteBuffer.allocateDirect(0),
                ByteBuffer.allocateDirect(8).position(8))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> use.register(id, bad))
                    .withMessageStartingWith("only a direct buffer that has bytes remaining can be registered");
        }
        ByteBuffer readOnly = ByteBuffer.allocateDirect(8).asReadOnlyBuffer();
        assertReadOnly(() -> use.register(id, readOnly));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("newer-jdk")
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "arenas came with JDK 22")
    void aBufferOfAClosedArena(Use use) throws ReflectiveOperationException {
        ArenaBuffer ofArena = new ArenaBuffer(SIZE);
        use.register(id, ofArena.buffer()).close();
        ofArena.closeArena();
        assertThatIllegalStateException()
                .isThrownBy(() -> use.register(id, ofArena.buffer()))
                .withMessage("Already closed");
    }

    @Test
    void aReadOnlyBufferIsASource() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr region = RdmaMr.reg(pair.server, memory.buffer().asReadOnlyBuffer(), REMOTE_READ)) {
            putLong(memory, 0, THERE);
            Remote.READ.assertDone(pair, region);
            assertReadOnly(() -> RdmaMr.reg(pair.server, memory.buffer().asReadOnlyBuffer(), REMOTE_READ, LOCAL_WRITE));
        }
    }

    private static Path file(Path directory) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(SIZE).order(ByteOrder.nativeOrder());
        return Files.write(directory.resolve("file"), content.putLong(0, THERE).array());
    }

    @Test
    void aReadOnlyMappingIsASource(@TempDir Path directory) throws IOException, InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.mapReadOnly(file(directory))) {
            if (!TestDevice.kernelIsAtLeast(6, 2)) {
                assertThatExceptionOfType(RpmaException.class)
                        .isThrownBy(() -> RdmaMr.reg(pair.server, memory, REMOTE_READ))
                        .withMessageContaining("before 6.2");
                return;
            }
            try (RdmaMr region = RdmaMr.reg(pair.server, memory, REMOTE_READ)) {
                Remote.READ.assertDone(pair, region);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReadOnlyMappingIsNoTarget(Use use, @TempDir Path directory) throws IOException {
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(file(directory))) {
            assertReadOnly(() -> use.register(id, memory));
            assertReadOnly(() -> RdmaMr.reg(id, memory, LOCAL_WRITE));
        }
    }

    @Test
    void theKernelRefusesAReadOnlyMappingByItsAddress(@TempDir Path directory) throws IOException {
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(file(directory))) {
            assertFails("ibv_reg_mr", "EFAULT", () -> RdmaMr.reg(id, memory.address(), SIZE, memory, LOCAL_WRITE));
        }
    }

    @Test
    void memoryThatIsNotMapped() {
        assertFails("ibv_reg_mr", "EFAULT", () -> RdmaMr.reg(id, 4096, 4096, "nothing", LOCAL_WRITE));
    }

    /** The kernel can't pin the part of the file that is gone. */
    @ParameterizedTest
    @MethodSource("registrations")
    void aFileThatHasBeenMadeShorter(Registration registration) throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
        try (RpmaMemory memory = RpmaMemory.map(file, 2 * SIZE)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(SIZE);
            }
            assertFails(registration.use.operation, "EFAULT", () -> registration.register(id, memory));
        } finally {
            Files.delete(file);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void addressesArePositive(long address) {
        assertOutOfRange(address, 1);
    }

    private void assertOutOfRange(long address, long length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaMr.reg(id, address, length, "owner", ALL))
                .withMessage("a region has at least 1 byte and ends before 2^63: " + length + " bytes at address 0x"
                        + Long.toHexString(address));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE - 4095, Long.MAX_VALUE})
    void lengthsArePositiveAndDoNotOverflow(long length) {
        assertOutOfRange(4096, length);
    }

    @Test
    void nothing() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(8);
        RdmaAccess[] nothingAmongOthers = {LOCAL_WRITE, null};
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            assertThatNullPointerException()
                    .isThrownBy(() -> RdmaMr.reg(id, memory.address(), SIZE, null, ALL))
                    .withMessage("owner");
            for (RdmaAccess[] bad : new RdmaAccess[][] {null, nothingAmongOthers}) {
                assertThatNullPointerException().isThrownBy(() -> RdmaMr.reg(id, memory, bad));
                assertThatNullPointerException().isThrownBy(() -> RdmaMr.reg(id, buffer, bad));
                assertThatNullPointerException().isThrownBy(() -> RdmaMr.reg(id, memory.address(), SIZE, memory, bad));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void noMemory(Use use) {
        assertThatNullPointerException().isThrownBy(() -> use.register(id, (RpmaMemory) null));
        assertThatNullPointerException().isThrownBy(() -> use.register(id, (ByteBuffer) null));
    }

    @ParameterizedTest
    @EnumSource(names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
    void theOtherSideWritesOnlyWhereThisOneMay(RdmaAccess access) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(8);
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            for (ThrowingCallable registration : List.<ThrowingCallable>of(
                    () -> RdmaMr.reg(id, memory, access),
                    () -> RdmaMr.reg(id, buffer, REMOTE_READ, access),
                    () -> RdmaMr.reg(id, memory.address(), SIZE, memory, access))) {
                assertThatIllegalArgumentException()
                        .isThrownBy(registration)
                        .withMessage("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("registrations")
    void anIdThatIsClosedOrMissing(Registration registration) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            id.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> registration.register(id, memory))
                    .withMessage(id.object() + " is closed");
            assertThatNullPointerException().isThrownBy(() -> registration.register(null, memory));
        }
    }

    @ParameterizedTest
    @MethodSource("registrations")
    void anIdWithoutADevice(Registration registration) {
        try (RdmaId unbound = RdmaId.create(RdmaPortSpace.TCP);
                RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> registration.register(unbound, memory))
                    .withMessageStartingWith(
                            registration.use.operation + ": " + unbound.object() + " has no device yet");
        }
    }

    @ParameterizedTest
    @MethodSource("registrationsOfMappings")
    void memoryThatIsClosed(Registration registration) {
        RpmaMemory memory = RpmaMemory.allocate(SIZE);
        String name = name(memory);
        memory.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> registration.register(id, memory))
                .withMessage(name + " is closed");
    }

    @ParameterizedTest
    @MethodSource("registrationsOfMappings")
    void memoryIsNotClosedBeforeItsRegion(Registration registration) {
        RpmaMemory memory = RpmaMemory.allocate(SIZE);
        RdmaMr region = registration.register(id, memory);
        assertThatIllegalStateException()
                .isThrownBy(memory::close)
                .withMessage(name(memory) + " can't be closed before " + region.object());
        region.close();
        region.close();
        memory.close();
    }

    @ParameterizedTest
    @MethodSource("registrations")
    void idsAreNotClosedBeforeTheirRegions(Registration registration) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr region = registration.register(id, memory)) {
            assertThatIllegalStateException()
                    .isThrownBy(id::close)
                    .withMessage(id.object() + " can't be closed before " + region.object());
        }
    }

    private RdmaMr registerOf(List<WeakReference<Object>> owners, long address) {
        Object owner = new Object();
        owners.add(new WeakReference<>(owner));
        return RdmaMr.reg(id, address, SIZE, owner, LOCAL_WRITE);
    }

    private static void collect() {
        WeakReference<Object> other = new WeakReference<>(new Object());
        Eventually.becomeByGc("another object is collected", () -> other.get() == null);
    }

    @Test
    void aRegionKeepsItsOwnerUntilItIsClosed() {
        List<WeakReference<Object>> owners = new ArrayList<>();
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            try (RdmaMr region = registerOf(owners, memory.address())) {
                collect();
                assertThat(owners.get(0).get()).as("owner of " + region).isNotNull();
            }
            Eventually.becomeByGc("the owner is collected", () -> owners.get(0).get() == null);
        }
    }

    @Test
    void aRefusedRegistrationKeepsNoOwner() {
        List<WeakReference<Object>> owners = new ArrayList<>();
        assertFails("ibv_reg_mr", "EFAULT", () -> registerOf(owners, 4096));
        Eventually.becomeByGc("the owner is collected", () -> owners.get(0).get() == null);
    }
}
