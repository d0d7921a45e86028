// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Resource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that the objects of a connection refuse without a call of librpma. */
class UnconnectedTest {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final long SIZE = 4096;
    private static final int ALL = 0xff;

    /** A connection whose native object is gone: calls with valid arguments fail, because the connection is closed. */
    private final RpmaConn conn = FakeFacade.conn();

    private final RpmaMrRemote region = RpmaMrRemoteTest.region(4096, SIZE, ALL);

    @AfterEach
    void close() {
        FakeFacade.close(conn);
        region.close();
    }

    private void assertClosed(ThrowingCallable call) {
        assertThatIllegalStateException().isThrownBy(call).withMessageEndingWith("is closed");
    }

    @Nested
    class Posts {
        @ParameterizedTest
        @ValueSource(ints = {0, 2, 4, -1})
        void refuseWrongFlags(int flags) {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.read(null, 0, region, 0, 1, flags, 0),
                    () -> conn.read(flags, 0),
                    () -> conn.write(region, 0, null, 0, 1, flags, 0),
                    () -> conn.write(flags, 0),
                    () -> conn.writeWithImm(region, 0, null, 0, 1, flags, 5, 0),
                    () -> conn.writeWithImm(flags, 5, 0),
                    () -> conn.atomicWrite(region, 0, 1, flags, 0),
                    () -> conn.writeAtomic(region, 0, null, 0, flags, 0),
                    () -> conn.flush(region, 0, 8, RpmaFlushType.VISIBILITY, flags, 0),
                    () -> conn.send(null, 0, 1, flags, 0),
                    () -> conn.send(flags, 0),
                    () -> conn.sendWithImm(null, 0, 1, flags, 5, 0),
                    () -> conn.sendWithImm(flags, 5, 0))) {
                assertThatIllegalArgumentException().isThrownBy(post).withMessageContaining("flags");
            }
        }

        @Test
        void refuseNull() {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.read(null, 0, region, 0, 1, ALWAYS, 0),
                    () -> conn.write(null, 0, null, 0, 1, ALWAYS, 0),
                    () -> conn.write(region, 0, null, 0, 1, ALWAYS, 0),
                    () -> conn.writeWithImm(null, 0, null, 0, 1, ALWAYS, 5, 0),
                    () -> conn.writeWithImm(region, 0, null, 0, 1, ALWAYS, 5, 0),
                    () -> conn.atomicWrite(null, 0, 1, ALWAYS, 0),
                    () -> conn.writeAtomic(null, 0, null, 0, ALWAYS, 0),
                    () -> conn.writeAtomic(region, 0, null, 0, ALWAYS, 0),
                    () -> conn.flush(null, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 0),
                    () -> conn.flush(region, 0, 8, null, ALWAYS, 0),
                    () -> conn.send(null, 0, 1, ALWAYS, 0),
                    () -> conn.sendWithImm(null, 0, 1, ALWAYS, 5, 0),
                    () -> conn.recv(null, 0, 1, 0),
                    () -> conn.applyRemotePeerCfg(null))) {
                assertThatNullPointerException().isThrownBy(post);
            }
        }

        @Test
        void refuseRegionsThatAreNotForThem() {
            int allButWriteDst = ALL & ~RpmaMrUsage.WRITE_DST.bit();
            try (RpmaMrRemote other = RpmaMrRemoteTest.region(4096, SIZE, allButWriteDst)) {
                for (ThrowingCallable post : List.<ThrowingCallable>of(
                        () -> conn.write(other, 0, null, 0, 1, ALWAYS, 0),
                        () -> conn.writeWithImm(other, 0, null, 0, 1, ALWAYS, 5, 0),
                        () -> conn.atomicWrite(other, 0, 1, ALWAYS, 0),
                        () -> conn.writeAtomic(other, 0, null, 0, ALWAYS, 0))) {
                    assertThatIllegalArgumentException()
                            .isThrownBy(post)
                            .withMessageContaining("destination region is not registered for WRITE_DST");
                }
            }
        }

        @ParameterizedTest
        @CsvSource({"-1, 1", "4096, 1", "4095, 2", "0, 4097", "0, -1", "9223372036854775807, 1"})
        void refuseBytesOutsideOfTheRemoteRegion(long offset, long length) {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.write(region, offset, null, 0, length, ALWAYS, 0),
                    () -> conn.writeWithImm(region, offset, null, 0, length, ALWAYS, 5, 0),
                    () -> conn.flush(region, offset, length, RpmaFlushType.PERSISTENT, ALWAYS, 0))) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(post)
                        .withMessageContaining(
                                "bytes " + offset + " to " + offset + " + " + length + " of the destination region");
            }
        }

        @ParameterizedTest
        @ValueSource(longs = {-8, 4089, 4092, 4096, 4104, Long.MAX_VALUE - 7, Long.MIN_VALUE})
        void refuseAtomicWritesOutsideOfTheRegion(long offset) {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.atomicWrite(region, offset, 1, ALWAYS, 0),
                    () -> conn.writeAtomic(region, offset, null, 0, ALWAYS, 0))) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(post)
                        .withMessageContaining("bytes " + offset + " to " + offset + " + 8 of the destination region");
            }
        }

        @ParameterizedTest
        @ValueSource(longs = {1, 4, 7, 9, 4087})
        void refuseAtomicWritesThatAreNotAligned(long offset) {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.atomicWrite(region, offset, 1, ALWAYS, 0),
                    () -> conn.writeAtomic(region, offset, null, 0, ALWAYS, 0))) {
                assertThatIllegalArgumentException()
                        .isThrownBy(post)
                        .withMessageContaining("multiple of 8, not to offset " + offset);
            }
        }

        @Test
        void refuseAtomicWritesToARegionThatIsNotAligned() {
            try (RpmaMrRemote odd = RpmaMrRemoteTest.region(4100, SIZE, ALL)) {
                for (long offset = 0; offset <= 8; offset++) {
                    long at = offset;
                    assertThatIllegalArgumentException().isThrownBy(() -> conn.atomicWrite(odd, at, 1, ALWAYS, 0));
                }
            }
        }

        @ParameterizedTest
        @CsvSource({"4089, 0", "4089, 7", "4095, 1", "4096, 0"})
        void refuseFlushesWithoutEightBytesAtTheirOffset(long offset, long length) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> conn.flush(region, offset, length, RpmaFlushType.VISIBILITY, ALWAYS, 0));
        }

        @Test
        void refuseMoreThanOneOperationCanTransfer() {
            long tooMuch = 1L << 31;
            try (RpmaMrRemote large = RpmaMrRemoteTest.region(4096, 1L << 40, ALL)) {
                for (ThrowingCallable post : List.<ThrowingCallable>of(
                        () -> conn.write(large, 0, null, 0, tooMuch, ALWAYS, 0),
                        () -> conn.writeWithImm(large, 0, null, 0, tooMuch, ALWAYS, 5, 0),
                        () -> conn.flush(large, 0, tooMuch, RpmaFlushType.VISIBILITY, ALWAYS, 0))) {
                    assertThatIllegalArgumentException()
                            .isThrownBy(post)
                            .withMessage("one operation transfers at most 2^31 - 1 bytes, not " + tooMuch);
                }
                assertThatIllegalStateException()
                        .isThrownBy(() -> conn.flush(large, 0, tooMuch - 1, RpmaFlushType.VISIBILITY, ALWAYS, 0));
            }
        }

        @ParameterizedTest
        @ValueSource(longs = {0, 8, 4088})
        void areToldThatTheConnectionIsClosed(long offset) {
            assertClosed(() -> conn.atomicWrite(region, offset, 1, ALWAYS, 0));
            for (RpmaFlushType type : RpmaFlushType.values()) {
                assertClosed(() -> conn.flush(region, offset, 8, type, ALWAYS, 0));
                assertClosed(() -> conn.flush(region, offset, 0, type, RpmaConn.F_COMPLETION_ON_ERROR, 0));
            }
        }

        @Test
        void ofNothingAreToldToo() {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.read(ALWAYS, 0),
                    () -> conn.write(ALWAYS, 0),
                    () -> conn.writeWithImm(ALWAYS, 5, 0),
                    () -> conn.send(ALWAYS, 0),
                    () -> conn.sendWithImm(ALWAYS, 5, 0),
                    () -> conn.recv(0))) {
                assertClosed(post);
            }
        }

        @Test
        void nameWhatIsClosed() {
            region.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> conn.atomicWrite(region, 0, 1, ALWAYS, 0))
                    .withMessage("rpma_atomic_write: " + region.object() + " is closed");
            FakeFacade.close(conn);
            assertThatIllegalStateException()
                    .isThrownBy(() -> conn.atomicWrite(region, 0, 1, ALWAYS, 0))
                    .withMessage("rpma_atomic_write: " + conn.object() + " is closed");
        }
    }

    @Nested
    class Connections {
        private final RpmaCompletions completions = RpmaCompletions.create(4);

        @ParameterizedTest
        @ValueSource(longs = {-1, Long.MIN_VALUE})
        void refuseWrongTimeouts(long timeout) {
            for (ThrowingCallable wait : List.<ThrowingCallable>of(
                    () -> conn.nextEvent(timeout, TimeUnit.SECONDS),
                    () -> conn.await(completions, timeout, TimeUnit.SECONDS),
                    () -> conn.getCq().await(completions, timeout, TimeUnit.SECONDS))) {
                assertThatIllegalArgumentException()
                        .isThrownBy(wait)
                        .withMessage("timeout must not be negative: " + timeout);
            }
        }

        @Test
        void refuseNull() {
            for (ThrowingCallable wait : List.<ThrowingCallable>of(
                    () -> conn.nextEvent(1, null),
                    () -> conn.await(null),
                    () -> conn.await(null, 1, TimeUnit.SECONDS),
                    () -> conn.await(completions, 1, null))) {
                assertThatNullPointerException().isThrownBy(wait);
            }
        }

        @Test
        void areOfNoUseWhenClosed() {
            try (RpmaPeerCfg cfg = RpmaPeerCfg.create()) {
                for (ThrowingCallable use : List.<ThrowingCallable>of(
                        conn::nextEvent,
                        () -> conn.nextEvent(0, TimeUnit.SECONDS),
                        () -> conn.nextEvent(Long.MAX_VALUE, TimeUnit.DAYS),
                        () -> conn.await(completions),
                        () -> conn.await(completions, 0, TimeUnit.SECONDS),
                        conn::getQpNum,
                        conn::getEventFd,
                        conn::getComplFd,
                        conn::getPrivateData,
                        conn::disconnect,
                        () -> conn.applyRemotePeerCfg(cfg))) {
                    assertClosed(use);
                }
            }
        }

        @Test
        void nameAClosedConfiguration() {
            RpmaPeerCfg cfg = RpmaPeerCfg.create();
            cfg.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> conn.applyRemotePeerCfg(cfg))
                    .withMessageContaining(cfg.object() + " is closed");
        }

        @Test
        void areInterrupted() {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(conn::nextEvent);
            assertThat(Thread.interrupted()).isFalse();
        }

        @Test
        void areNotClosedTwice() {
            FakeFacade.close(conn);
            conn.close();
            conn.close();
            assertClosed(conn::disconnect);
        }
    }

    @Nested
    class CompletionQueues {
        private final RpmaCq cq = conn.getCq();
        private final RpmaCompletions completions = RpmaCompletions.create(4);

        @Test
        void belongToTheirConnection() {
            assertThat(conn.getCq()).isSameAs(cq);
            assertThat(cq.toString()).contains(conn.object().toString());
        }

        @Test
        void refuseWrongArguments() {
            assertThatNullPointerException().isThrownBy(() -> cq.poll(null));
            assertThatNullPointerException().isThrownBy(() -> cq.await(null));
            assertThatNullPointerException().isThrownBy(() -> cq.await(null, 0, TimeUnit.SECONDS));
            assertThatNullPointerException().isThrownBy(() -> cq.await(completions, 0, null));
        }

        @Test
        void areOfNoUseWhenTheConnectionIsClosed() {
            for (ThrowingCallable use : List.<ThrowingCallable>of(
                    () -> cq.poll(completions),
                    () -> cq.await(completions),
                    () -> cq.await(completions, 0, TimeUnit.SECONDS),
                    () -> cq.await(completions, Long.MAX_VALUE, TimeUnit.DAYS))) {
                completions.filled(4);
                assertClosed(use);
                assertThat(completions.count()).isZero();
            }
            assertClosed(cq::getFd);
        }

        @Test
        void areInterrupted() {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> cq.await(completions));
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Nested
    class Requests {
        private final RpmaConnReq request = FakeFacade.request();
        private final Resource requestHandle = request.object();

        @AfterEach
        void close() {
            requestHandle.markClosed();
            requestHandle.leaveParents();
        }

        @Test
        void refuseWrongArgumentsAndStayAsTheyAre() {
            assertThatNullPointerException().isThrownBy(() -> request.connect(null));
            assertThatNullPointerException().isThrownBy(() -> request.recv(null, 0, 1, 0));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> request.connect(new byte[256]))
                    .withMessageContaining("256");
            assertThat(requestHandle.isClosed()).isFalse();
        }

        @Test
        void areOfNoUseWhenClosed() {
            assertClosed(request::getPrivateData);
        }

        @Test
        void refuseAClosedConfiguration() {
            RpmaConnCfg cfg = RpmaConnCfg.create();
            cfg.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> RpmaConnReq.create(null, "192.0.2.1", 1, cfg))
                    .withMessageContaining(cfg.object() + " is closed");
        }
    }

    /** The addresses of requests and of endpoints. */
    @Nested
    class Addresses {
        private List<ThrowingCallable> uses(String address, int port) {
            return List.of(
                    () -> RpmaConnReq.create(null, address, port, null), () -> RpmaEp.listen(null, address, port));
        }

        @ParameterizedTest
        @ValueSource(ints = {0, -1, 65536, Integer.MIN_VALUE, Integer.MAX_VALUE})
        void refuseWrongPorts(int port) {
            for (ThrowingCallable use : uses("192.0.2.1", port)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(use)
                        .withMessage("port must be 1 to 65535, not " + port);
            }
        }

        @ParameterizedTest
        @ValueSource(ints = {0, 256, 100_000})
        void refuseWrongLengths(int length) {
            for (ThrowingCallable use : uses("x".repeat(length), 1)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(use)
                        .withMessage("an address has 1 to 255 characters, not " + length);
            }
        }

        @Test
        void refuseNull() {
            for (ThrowingCallable use : uses(null, 1)) {
                assertThatNullPointerException().isThrownBy(use).withMessage("address");
            }
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 65535})
        void needAPeer(int port) {
            for (ThrowingCallable use : uses("192.0.2.1", port)) {
                assertThatNullPointerException().isThrownBy(use).withMessageContaining("peer");
            }
        }
    }

    @Nested
    class Regions {
        private final RpmaMrUsage[] usages = {RpmaMrUsage.SEND};

        private ThrowingCallable registering(long address, long size, RpmaMrUsage... wanted) {
            return () -> RpmaMrLocal.register(null, address, size, this, new Resource[0], wanted);
        }

        @ParameterizedTest
        @CsvSource({
            "4096, 0",
            "4096, -1",
            "4096, -9223372036854775808",
            "1, 9223372036854775807",
            "9223372036854775807, 1"
        })
        void refuseImpossibleSizes(long address, long size) {
            assertThatIllegalArgumentException()
                    .isThrownBy(registering(address, size, usages))
                    .withMessageContaining("at least 1 byte");
        }

        @Test
        void refuseToBeForNothing() {
            assertThatIllegalArgumentException()
                    .isThrownBy(registering(4096, 4096))
                    .withMessage("a region needs at least one usage");
            assertThatNullPointerException().isThrownBy(registering(4096, 4096, (RpmaMrUsage[]) null));
            assertThatNullPointerException()
                    .isThrownBy(registering(4096, 4096, RpmaMrUsage.SEND, null))
                    .withMessageContaining("usage");
        }
    }

    @Test
    void aPeerNeedsADevice() {
        assertThatNullPointerException().isThrownBy(() -> RpmaPeer.create(null));
    }
}
