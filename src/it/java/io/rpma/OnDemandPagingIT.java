// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rpma.internal.Call;
import io.rpma.internal.Natives;
import io.rpma.testing.Interposer;
import io.rpma.testing.Limit;
import io.rpma.testing.OnDemand;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Regions with on-demand paging as targets, in memory of every kind. Where the device has no on-demand paging, each
 * test checks that the registration is refused. The library refuses it on soft-RoCE, too, except for these tests: they
 * show the behaviour of the kernel.
 *
 * <p>The bytes of most operations begin with a page and fit into one packet: see {@link #bytesInsideAPage}.
 */
class OnDemandPagingIT extends WithConnection {
    private static final int PAGE = 4096;
    private static final int PAGES = 4;
    private static final int SIZE = PAGES * PAGE;
    private static final int PACKET = 1024;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int DROPS = 20;

    /** A test of a region with on-demand paging. */
    @FunctionalInterface
    private interface Use {
        void of(RpmaMrLocal region, RpmaMrRemote remote) throws Exception;
    }

    OnDemandPagingIT() {
        super(SIZE);
    }

    @BeforeEach
    void fill() {
        regions.fillLocal(1);
    }

    private void register(RpmaMemory memory, Use use) throws Exception {
        if (!peer.device().isOdpCapable()) {
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> OnDemand.register(() -> peer.register(memory, Regions.ALL)))
                    .withMessageContaining("on-demand paging");
            return;
        }
        try (RpmaMrLocal region = OnDemand.permit(() -> OnDemand.register(() -> peer.register(memory, Regions.ALL)));
                RpmaMrRemote remote = Pair.remote(region)) {
            use.of(region, remote);
        }
    }

    private void registerFile(Path file, Use use) throws Exception {
        try (RpmaMemory memory = RpmaMemory.map(file, SIZE)) {
            assertEquals(RpmaMemory.Kind.FILE, memory.kind());
            register(memory, use);
        } finally {
            Files.delete(file);
        }
    }

    private static Path fileInMemory() throws IOException {
        return Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
    }

    private RpmaWcStatus write(RpmaMrRemote remote, long offset, int length) throws InterruptedException {
        Pair.assertPosted(pair.client.write(remote, offset, regions.local, 0, length, ALWAYS, 1));
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
        return completions.status(0);
    }

    private void writeEachPage(RpmaMrRemote remote) throws InterruptedException {
        for (int page = 0; page < PAGES; page++) {
            assertEquals(RpmaWcStatus.SUCCESS, write(remote, page * PAGE, PACKET));
        }
    }

    private ByteBuffer packet() {
        return regions.localMemory.buffer(0, PACKET);
    }

    private void assertEachPageWritten(ByteBuffer content) {
        for (int page = 0; page < PAGES; page++) {
            assertEquals(packet(), content.slice(page * PAGE, PACKET), "page " + page);
        }
    }

    /** The library does not know the kind of a buffer or of an address. */
    @Test
    void isRefusedOnSoftRoce() {
        if (!TestDevice.isSoft()) {
            return;
        }
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            for (Supplier<RpmaMrLocal> registration : List.<Supplier<RpmaMrLocal>>of(
                    () -> peer.register(memory, Regions.ALL),
                    () -> peer.register(memory.buffer(), Regions.ALL),
                    () -> peer.register(memory.address(), SIZE, memory, Regions.ALL))) {
                RpmaException refusal = assertThrows(RpmaException.class, () -> OnDemand.register(registration));
                assertEquals("rpma_mr_reg", refusal.operation());
                assertEquals("", Interposer.live(), "objects of librpma are left");
                // without on-demand paging, the kernel has refused the registration
                if (peer.device().isOdpCapable()) {
                    assertEquals(RpmaError.NOSUPP, refusal.error());
                    assertThat(refusal)
                            .hasMessageContaining("soft-RoCE copies the bytes to a wrong place")
                            .hasMessageContaining("device DAX")
                            .hasMessageContaining("-Dio.rpma.softRoceOnDemandPaging=true");
                }
            }
            peer.register(memory, Regions.ALL).close();
        }
    }

    @Test
    void writesReadsAndFlushes() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            register(memory, (region, remote) -> {
                assertFalse(region.isPersistent());
                writeEachPage(remote);
                assertEachPageWritten(memory.buffer());
                Pair.assertPosted(pair.client.flush(remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 2));
                Pair.assertDone(pair.client, 2);
                memory.buffer().putLong(PAGE, 42);
                Pair.assertPosted(pair.client.read(regions.local, PAGE, remote, PAGE, PACKET, ALWAYS, 3));
                Pair.assertDone(pair.client, 3);
                assertEquals(memory.buffer(PAGE, PACKET), regions.localMemory.buffer(PAGE, PACKET));
            });
        }
    }

    @Test
    void isALocalSideToo() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            memory.buffer().put(PAGE, packet(), 0, PACKET);
            register(memory, (region, remote) -> {
                Pair.assertPosted(pair.client.write(regions.remote, 0, region, PAGE, PACKET, ALWAYS, 1));
                Pair.assertDone(pair.client, 1);
                assertEquals(packet(), regions.remoteMemory.buffer(0, PACKET));
                Pair.assertPosted(pair.client.read(region, 2 * PAGE, regions.remote, 0, PACKET, ALWAYS, 2));
                Pair.assertDone(pair.client, 2);
                assertEquals(packet(), memory.buffer(2 * PAGE, PACKET));
            });
        }
    }

    @Test
    void atomicWritesAnywhere() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            register(memory, (region, remote) -> {
                if (!peer.device().isAtomicWriteNative()) {
                    return; // an emulated atomic write is a write
                }
                for (int offset : new int[] {0, 8, PAGE - 8, SIZE - 8}) {
                    Pair.assertPosted(pair.client.atomicWrite(remote, offset, offset + 1, ALWAYS, 1));
                    Pair.assertDone(pair.client, 1);
                    assertEquals(
                            offset + 1,
                            memory.buffer().order(ByteOrder.nativeOrder()).getLong(offset));
                }
            });
        }
    }

    /**
     * soft-RoCE up to Linux 7.3, the newest that was tested, copies each packet to and from the start of a page,
     * whatever the offset in the page, and reports a success ({@code __rxe_odp_mr_copy()} in {@code rxe_odp.c}).
     */
    @Test
    void bytesInsideAPage() throws Exception {
        int offset = PAGE + 100;
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            register(memory, (region, remote) -> {
                assertEquals(RpmaWcStatus.SUCCESS, write(remote, offset, Long.BYTES));
                int written = TestDevice.isSoft() ? PAGE : offset;
                ByteBuffer expected = ByteBuffer.allocate(SIZE).put(written, packet(), 0, Long.BYTES);
                assertEquals(expected, memory.buffer());
            });
        }
    }

    /** The native method is called because {@link RpmaMrLocal#advise} refuses a memory that librpma could pin. */
    @Test
    void advice() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            register(memory, (region, remote) -> {
                long handle = RpmaMrLocal.use(region, RpmaMrUsage.WRITE_DST, 0, SIZE);
                assertAdvice((advice, flush) -> Call.check(
                        "rpma_mr_advise", Natives.mrAdvise(handle, 0, SIZE, advice.ordinal(), flush ? 1 : 0)));
                writeEachPage(remote);
                assertEachPageWritten(memory.buffer());
            });
        }
    }

    /** An advice for a region. */
    @FunctionalInterface
    interface Advice {
        void give(RpmaMrAdvice advice, boolean flush);
    }

    /**
     * Gives each advice to a region with on-demand paging. Only rdma-core 59 and later advise soft-RoCE. Other devices
     * may follow the advice or not.
     */
    static void assertAdvice(Advice advised) {
        String image = System.getenv("RPMA_IMAGE");
        for (RpmaMrAdvice advice : RpmaMrAdvice.values()) {
            for (boolean flush : new boolean[] {false, true}) {
                boolean followed = true;
                try {
                    advised.give(advice, flush);
                } catch (RpmaException e) {
                    assertEquals(RpmaError.NOSUPP, e.error(), e.toString());
                    followed = false;
                }
                if (image != null) {
                    assertEquals(image.equals("backports"), followed, advice.toString());
                }
            }
        }
    }

    /**
     * ext4 notices each write of the device, because the kernel takes the page back from the device when it writes the
     * page.
     */
    @Test
    void anOrdinaryFile() throws Exception {
        Path file = Files.createTempFile(RegistrationIT.ordinaryDirectory(), "rpma-java-", ".test");
        try (RpmaMemory memory = RpmaMemory.map(file, SIZE)) {
            register(memory, (region, remote) -> {
                for (int round = 1; round <= 3; round++) {
                    regions.fillLocal(round);
                    writeEachPage(remote);
                    assertEachPageWritten(ByteBuffer.wrap(Files.readAllBytes(file)));
                    memory.persist();
                    assertEquals(packet(), RegistrationIT.onDisk(file).limit(PACKET));
                }
            });
        } finally {
            Files.delete(file);
        }
    }

    /** The file loses pages, and the mapping with it: the next write finds new pages. */
    @Test
    void pagesThatAreDroppedDuringWrites() throws Exception {
        Path file = fileInMemory();
        registerFile(file, (region, remote) -> {
            AtomicBoolean done = new AtomicBoolean();
            Together.run(2, thread -> {
                if (thread == 0) {
                    try {
                        for (int drop = 0; drop < DROPS; drop++) {
                            Tool.run("fallocate", "--punch-hole", "--length", SIZE + "", file.toString());
                        }
                    } finally {
                        done.set(true);
                    }
                } else {
                    do {
                        writeEachPage(remote);
                    } while (!done.get());
                }
            });
            writeEachPage(remote);
            assertEachPageWritten(ByteBuffer.wrap(Files.readAllBytes(file)));
        });
    }

    @Test
    void aPageThatIsTruncatedAndExtendedAgain() throws Exception {
        Path file = fileInMemory();
        registerFile(file, (region, remote) -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                writeEachPage(remote);
                channel.truncate(PAGE);
                channel.write(ByteBuffer.allocate(1), SIZE - 1);
                assertThat(Files.readAllBytes(file)).endsWith(new byte[SIZE - PAGE]);
                writeEachPage(remote);
                assertEachPageWritten(ByteBuffer.wrap(Files.readAllBytes(file)));
            }
        });
    }

    @Test
    void aPageThatIsTruncatedForGood() throws Exception {
        Path file = fileInMemory();
        registerFile(file, (region, remote) -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                writeEachPage(remote);
                channel.truncate(PAGE);
                assertEquals(RpmaWcStatus.SUCCESS, write(remote, 0, PACKET));
                assertEquals(RpmaWcStatus.REM_ACCESS_ERR, write(remote, PAGE, PACKET));
                assertThat(file).hasSize(PAGE);
            }
        });
    }
}
