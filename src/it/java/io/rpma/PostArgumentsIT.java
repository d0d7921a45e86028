// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Check;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every bad argument of every post is refused with the exact exception, and nothing is posted. */
class PostArgumentsIT {
    private static final long SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final long TOO_LONG = 1L << 31;

    private static Pair pair;
    private static Regions regions;
    private static RpmaSrq srq;
    private static RpmaConnReq request;

    /** The arguments of a post, good ones unless changed. */
    static final class Arguments {
        RpmaConn conn = pair.client;
        RpmaSrq queue = srq;
        RpmaConnReq req = request;
        RpmaMrRemote remote = regions.remote;
        long remoteOffset;
        RpmaMrLocal local = regions.local;
        long localOffset;
        long length = 8;
        int flags = ALWAYS;
    }

    private interface Call {
        boolean post(Arguments a);
    }

    /** The posts and their arguments. */
    enum Post {
        READ(
                a -> a.conn.read(a.local, a.localOffset, a.remote, a.remoteOffset, a.length, a.flags, 1),
                RpmaMrUsage.READ_DST,
                RpmaMrUsage.READ_SRC),
        WRITE(
                a -> a.conn.write(a.remote, a.remoteOffset, a.local, a.localOffset, a.length, a.flags, 1),
                RpmaMrUsage.WRITE_SRC,
                RpmaMrUsage.WRITE_DST),
        WRITE_WITH_IMM(
                a -> a.conn.writeWithImm(a.remote, a.remoteOffset, a.local, a.localOffset, a.length, a.flags, 5, 1),
                RpmaMrUsage.WRITE_SRC,
                RpmaMrUsage.WRITE_DST),
        WRITE_ATOMIC(
                a -> a.conn.writeAtomic(a.remote, a.remoteOffset, a.local, a.localOffset, a.flags, 1),
                RpmaMrUsage.WRITE_SRC,
                RpmaMrUsage.WRITE_DST),
        ATOMIC_WRITE(a -> a.conn.atomicWrite(a.remote, a.remoteOffset, 7, a.flags, 1), null, RpmaMrUsage.WRITE_DST),
        FLUSH(
                a -> a.conn.flush(a.remote, a.remoteOffset, a.length, RpmaFlushType.VISIBILITY, a.flags, 1),
                null,
                RpmaMrUsage.FLUSH_TYPE_VISIBILITY),
        SEND(a -> a.conn.send(a.local, a.localOffset, a.length, a.flags, 1), RpmaMrUsage.SEND, null),
        SEND_WITH_IMM(a -> a.conn.sendWithImm(a.local, a.localOffset, a.length, a.flags, 5, 1), RpmaMrUsage.SEND, null),
        RECV(a -> a.conn.recv(a.local, a.localOffset, a.length, 1), RpmaMrUsage.RECV, null),
        REQ_RECV(a -> a.req.recv(a.local, a.localOffset, a.length, 1), RpmaMrUsage.RECV, null),
        SRQ_RECV(a -> a.queue.recv(a.local, a.localOffset, a.length, 1), RpmaMrUsage.RECV, null);

        private final Call call;
        private final RpmaMrUsage localUsage;
        private final RpmaMrUsage remoteUsage;

        Post(Call call, RpmaMrUsage localUsage, RpmaMrUsage remoteUsage) {
            this.call = call;
            this.localUsage = localUsage;
            this.remoteUsage = remoteUsage;
        }

        boolean hasLength() {
            return this != ATOMIC_WRITE && this != WRITE_ATOMIC;
        }

        boolean isReceive() {
            return this == RECV || this == REQ_RECV || this == SRQ_RECV;
        }

        String localRegion() {
            return this == READ || isReceive() ? "destination region" : "source region";
        }

        String remoteRegion() {
            return this == READ ? "source region" : "destination region";
        }
    }

    @BeforeAll
    static void connect() throws InterruptedException {
        pair = Pair.connect();
        regions = new Regions(pair.peer, SIZE);
        srq = RpmaSrq.create(pair.peer, null);
        request = RpmaConnReq.create(pair.peer, TestDevice.address(), TestDevice.port(), null);
    }

    /** A refused post that was made all the same would show here as a completion or as a broken connection. */
    @AfterAll
    static void nothingWasPosted() throws InterruptedException {
        if (pair == null) {
            return;
        }
        Pair.assertPosted(pair.client.write(regions.remote, 0, regions.local, 0, SIZE, ALWAYS, 4711));
        Pair.assertDone(pair.client, 4711);
        assertThat(pair.server.getCq().poll(RpmaCompletions.create(1))).isZero();
        request.close();
        srq.close();
        regions.close();
        pair.close();
    }

    /** Makes the post. */
    boolean call(Post post, Arguments a) {
        return post.call.post(a);
    }

    /** Returns the name of a closed object in the message of a post. */
    String named(Post post, String type) {
        return type;
    }

    private static Arguments with(Consumer<Arguments> change) {
        Arguments arguments = new Arguments();
        change.accept(arguments);
        return arguments;
    }

    @ParameterizedTest
    @EnumSource
    void refusesNull(Post post) {
        if (post.localUsage != null) {
            assertNull("region", () -> call(post, with(a -> a.local = null)));
        }
        if (post.remoteUsage != null) {
            assertNull("region", () -> call(post, with(a -> a.remote = null)));
        }
        if (post == Post.FLUSH) {
            assertNull("flush type", () -> pair.client.flush(regions.remote, 0, 8, null, ALWAYS, 1));
        }
    }

    /** The exception has a message in compiled code too, where HotSpot's own exceptions have none. */
    static void assertNull(String what, ThrowingCallable call) {
        assertThatNullPointerException().isThrownBy(call).withMessageMatching("the (.* )?" + what + " is null");
    }

    @ParameterizedTest
    @EnumSource
    void refusesFlagsThatAreNone(Post post) {
        if (post.isReceive()) {
            return;
        }
        for (int flags : new int[] {0, 2, 4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.flags = flags)))
                    .withMessageContaining("flags");
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesLengthsOutOfRange(Post post) {
        if (!post.hasLength()) {
            return;
        }
        for (long length : new long[] {-1, SIZE + 1, Integer.MIN_VALUE, Long.MIN_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> call(post, with(a -> a.length = length)))
                    .withMessageContaining(String.valueOf(length));
        }
        for (long length : new long[] {TOO_LONG, (1L << 32) + 5, Long.MAX_VALUE}) {
            // some posts first check the remote region, which does not know the maximum of the device
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.length = length)))
                    .extracting(Throwable::getMessage)
                    .isIn(
                            TestDevice.tooLong(length),
                            Check.tooLong(length, Integer.MAX_VALUE).getMessage());
        }
    }

    /** Offsets that are out of bounds by one at both ends, and by far. */
    private static LongStream badOffsets() {
        return LongStream.of(-1, SIZE - 8 + 1, SIZE, SIZE + 1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE - 7);
    }

    @ParameterizedTest
    @EnumSource
    void refusesOffsetsOutOfBounds(Post post) {
        badOffsets().forEach(offset -> {
            if (post.localUsage != null) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> call(post, with(a -> a.localOffset = offset)))
                        .withMessageContaining("bytes " + offset + " to ")
                        .withMessageContaining(post.localRegion());
            }
            if (post.remoteUsage != null) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> call(post, with(a -> a.remoteOffset = offset)))
                        .withMessageContaining("bytes " + offset + " to ")
                        .withMessageContaining(post.remoteRegion());
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"ATOMIC_WRITE", "WRITE_ATOMIC"})
    void refusesAddressesThatAreNoMultipleOfEight(Post post) {
        for (long offset : new long[] {1, 4, 7, SIZE - 12}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.remoteOffset = offset)))
                    .withMessageContaining("multiple of 8");
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesRegionsThatAreNotRegisteredForIt(Post post) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal local = pair.peer.register(memory, other(post.localUsage));
                RpmaMrLocal target = pair.peer.register(memory, other(post.remoteUsage));
                RpmaMrRemote remote = Pair.remote(target)) {
            if (post.localUsage != null) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> call(post, with(a -> a.local = local)))
                        .withMessageContaining(post.localRegion() + " is not registered for " + post.localUsage);
            }
            if (post == Post.FLUSH) {
                assertThatExceptionOfType(RpmaException.class)
                        .isThrownBy(() -> call(post, with(a -> a.remote = remote)))
                        .extracting(RpmaException::error)
                        .isEqualTo(RpmaError.NOSUPP);
            } else if (post.remoteUsage != null) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> call(post, with(a -> a.remote = remote)))
                        .withMessageContaining(post.remoteRegion() + " is not registered for " + post.remoteUsage);
            }
        }
    }

    private static RpmaMrUsage other(RpmaMrUsage usage) {
        return usage == RpmaMrUsage.READ_SRC ? RpmaMrUsage.WRITE_DST : RpmaMrUsage.READ_SRC;
    }

    @ParameterizedTest
    @EnumSource
    void refusesClosedObjects(Post post) {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            RpmaMrLocal local = pair.peer.register(memory, Regions.ALL);
            RpmaMrRemote remote = Pair.remote(local);
            local.close();
            remote.close();
            if (post.localUsage != null) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> call(post, with(a -> a.local = local)))
                        .withMessageContaining(named(post, "RpmaMrLocal"))
                        .withMessageEndingWith("is closed");
            }
            if (post.remoteUsage != null) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> call(post, with(a -> a.remote = remote)))
                        .withMessageContaining(named(post, "RpmaMrRemote"))
                        .withMessageEndingWith("is closed");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesClosedConnectionsAndQueues(Post post) throws InterruptedException {
        RpmaConnReq closedRequest = RpmaConnReq.create(pair.peer, TestDevice.address(), TestDevice.port(), null);
        closedRequest.close();
        RpmaSrq closedSrq = RpmaSrq.create(pair.peer, null);
        closedSrq.close();
        Pair other = Pair.connect();
        other.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> call(post, with(a -> {
                    a.conn = other.client;
                    a.queue = closedSrq;
                    a.req = closedRequest;
                })))
                .withMessageEndingWith("is closed");
    }

    @ParameterizedTest
    @EnumSource(names = {"READ", "WRITE", "ATOMIC_WRITE", "WRITE_ATOMIC", "FLUSH"})
    void takesWhatIsAtBothEnds(Post post) throws InterruptedException {
        assertThat(call(post, with(a -> a.length = SIZE))).isTrue();
        Pair.assertDone(pair.client, 1);
        assertThat(call(post, with(a -> {
                    a.localOffset = SIZE - 8;
                    a.remoteOffset = SIZE - 8;
                })))
                .isTrue();
        Pair.assertDone(pair.client, 1);
        assertThat(call(post, with(a -> a.length = 0))).isTrue();
        Pair.assertDone(pair.client, 1);
    }
}
