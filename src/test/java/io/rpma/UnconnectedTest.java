package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the objects of a connection refuse before, or instead of, calling librpma. */
@Timeout(30)
class UnconnectedTest {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final long SIZE = 4096;
    private static final int ALL = 0xff;

    /** A connection whose native object is gone: what passes the checks of its arguments is told that it is closed. */
    private final Handle handle = new Handle("RpmaConn");

    private final RpmaConn conn = new RpmaConn(null, handle, 0, 0, null);
    private final RpmaMrRemote region = RpmaMrRemoteTest.region(4096, SIZE, ALL);

    @AfterEach
    void close() {
        handle.abandon();
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
                    () -> conn.write(region, 0, null, 0, 1, flags, 0),
                    () -> conn.atomicWrite(region, 0, 1, flags, 0),
                    () -> conn.flush(region, 0, 8, RpmaFlushType.VISIBILITY, flags, 0))) {
                assertThatIllegalArgumentException().isThrownBy(post).withMessageContaining("flags");
            }
        }

        @Test
        void refuseNull() {
            for (ThrowingCallable post : List.<ThrowingCallable>of(
                    () -> conn.read(null, 0, region, 0, 1, ALWAYS, 0),
                    () -> conn.write(null, 0, null, 0, 1, ALWAYS, 0),
                    () -> conn.write(region, 0, null, 0, 1, ALWAYS, 0),
                    () -> conn.atomicWrite(null, 0, 1, ALWAYS, 0),
                    () -> conn.flush(null, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 0),
                    () -> conn.flush(region, 0, 8, null, ALWAYS, 0),
                    () -> conn.applyRemotePeerCfg(null))) {
                assertThatNullPointerException().isThrownBy(post);
            }
        }

        @Test
        void refuseRegionsThatAreNotForThem() {
            int allButWriteDst = ALL & ~RpmaMrUsage.WRITE_DST.bit();
            try (RpmaMrRemote other = RpmaMrRemoteTest.region(4096, SIZE, allButWriteDst)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> conn.write(other, 0, null, 0, 1, ALWAYS, 0))
                        .withMessageContaining("WRITE_DST");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> conn.atomicWrite(other, 0, 1, ALWAYS, 0))
                        .withMessageContaining("WRITE_DST");
            }
        }

        @ParameterizedTest
        @CsvSource({"-1, 1", "4096, 1", "4095, 2", "0, 4097", "0, -1", "9223372036854775807, 1"})
        void refuseBytesOutsideOfTheRemoteRegion(long offset, long length) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> conn.write(region, offset, null, 0, length, ALWAYS, 0))
                    .withMessageContaining("destination");
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> conn.flush(region, offset, length, RpmaFlushType.PERSISTENT, ALWAYS, 0));
        }

        @ParameterizedTest
        @ValueSource(longs = {-8, 4089, 4092, 4096, 4104, Long.MAX_VALUE - 7, Long.MIN_VALUE})
        void refuseAtomicWritesOutsideOfTheRegion(long offset) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> conn.atomicWrite(region, offset, 1, ALWAYS, 0));
        }

        @ParameterizedTest
        @ValueSource(longs = {1, 4, 7, 9, 4087})
        void refuseAtomicWritesThatAreNotAligned(long offset) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> conn.atomicWrite(region, offset, 1, ALWAYS, 0))
                    .withMessageContaining("multiple of 8");
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
            long tooMuch = (1L << 31) + 1;
            try (RpmaMrRemote large = RpmaMrRemoteTest.region(4096, 1L << 40, ALL)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> conn.write(large, 0, null, 0, tooMuch, ALWAYS, 0));
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> conn.flush(large, 0, tooMuch, RpmaFlushType.VISIBILITY, ALWAYS, 0));
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
        void nameWhatIsClosed() {
            region.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> conn.atomicWrite(region, 0, 1, ALWAYS, 0))
                    .withMessage("rpma_atomic_write: " + region.handle() + " is closed");
            handle.abandon();
            assertThatIllegalStateException()
                    .isThrownBy(() -> conn.atomicWrite(region, 0, 1, ALWAYS, 0))
                    .withMessage("rpma_atomic_write: " + handle + " is closed");
        }
    }

    @Nested
    class Connections {
        @Test
        void refuseWrongTimeouts() {
            assertThatIllegalArgumentException().isThrownBy(() -> conn.nextEvent(-1, TimeUnit.SECONDS));
            assertThatIllegalArgumentException().isThrownBy(() -> conn.nextEvent(Long.MIN_VALUE, TimeUnit.SECONDS));
            assertThatNullPointerException().isThrownBy(() -> conn.nextEvent(1, null));
        }

        @Test
        void areOfNoUseWhenClosed() {
            try (RpmaPeerCfg cfg = RpmaPeerCfg.create()) {
                for (ThrowingCallable use : List.<ThrowingCallable>of(
                        conn::nextEvent,
                        () -> conn.nextEvent(0, TimeUnit.SECONDS),
                        () -> conn.nextEvent(Long.MAX_VALUE, TimeUnit.DAYS),
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
                    .withMessageContaining(cfg + " is closed");
        }

        @Test
        void areInterrupted() {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(conn::nextEvent);
            assertThat(Thread.interrupted()).isFalse();
        }

        @Test
        void areNotClosedTwice() {
            handle.abandon();
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
            assertThat(cq.toString()).contains(handle.toString());
        }

        @Test
        void refuseWrongArguments() {
            assertThatNullPointerException().isThrownBy(() -> cq.poll(null));
            assertThatNullPointerException().isThrownBy(() -> cq.await(null));
            assertThatNullPointerException().isThrownBy(() -> cq.await(null, 0, TimeUnit.SECONDS));
            assertThatNullPointerException().isThrownBy(() -> cq.await(completions, 0, null));
            assertThatIllegalArgumentException().isThrownBy(() -> cq.await(completions, -1, TimeUnit.SECONDS));
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
        private final Handle requestHandle = new Handle("RpmaConnReq");
        private final RpmaConnReq request = new RpmaConnReq(null, requestHandle, null, new ReentrantLock());

        @AfterEach
        void close() {
            requestHandle.abandon();
        }

        @Test
        void refuseWrongPrivateDataAndStayAsTheyAre() {
            assertThatNullPointerException().isThrownBy(() -> request.connect(null));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> request.connect(new byte[256]))
                    .withMessageContaining("256");
            assertThat(requestHandle.isClosed()).isFalse();
        }

        @Test
        void areOfNoUseWhenClosed() {
            assertClosed(request::getPrivateData);
        }

        @ParameterizedTest
        @ValueSource(ints = {0, -1, 65536})
        void refuseWrongPorts(int port) {
            assertThatIllegalArgumentException().isThrownBy(() -> RpmaConnReq.create(null, "192.0.2.1", port, null));
        }

        @Test
        void refuseWrongArguments() {
            assertThatNullPointerException().isThrownBy(() -> RpmaConnReq.create(null, "192.0.2.1", 1, null));
            assertThatNullPointerException().isThrownBy(() -> RpmaConnReq.create(null, null, 1, null));
            assertThatIllegalArgumentException().isThrownBy(() -> RpmaConnReq.create(null, "", 1, null));
        }

        @Test
        void refuseAClosedConfiguration() {
            RpmaConnCfg cfg = RpmaConnCfg.create();
            cfg.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> RpmaConnReq.create(null, "192.0.2.1", 1, cfg))
                    .withMessageContaining(cfg + " is closed");
        }
    }

    @Nested
    class Endpoints {
        @ParameterizedTest
        @ValueSource(ints = {0, -1, 65536})
        void refuseWrongPorts(int port) {
            assertThatIllegalArgumentException().isThrownBy(() -> RpmaEp.listen(null, "192.0.2.1", port));
        }

        @Test
        void refuseWrongArguments() {
            assertThatNullPointerException().isThrownBy(() -> RpmaEp.listen(null, "192.0.2.1", 1));
            assertThatNullPointerException().isThrownBy(() -> RpmaEp.listen(null, null, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> RpmaEp.listen(null, "", 1));
        }
    }

    @Nested
    class Regions {
        private final RpmaMrUsage[] usages = {RpmaMrUsage.SEND};

        private ThrowingCallable registering(long address, long size, RpmaMrUsage... wanted) {
            return () -> RpmaMrLocal.register(null, address, size, this, new Handle[0], wanted);
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
            assertThatIllegalArgumentException().isThrownBy(registering(4096, 4096));
            assertThatNullPointerException().isThrownBy(registering(4096, 4096, (RpmaMrUsage) null));
        }
    }

    @Test
    void aPeerNeedsADevice() {
        assertThatNullPointerException().isThrownBy(() -> RpmaPeer.create(null));
    }
}
