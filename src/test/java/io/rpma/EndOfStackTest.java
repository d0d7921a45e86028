// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.internal.Natives;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls whose stack ends inside them, at each depth: what they were to do can be done afterwards. */
@Tag("stand-in")
@Tag("unsanitized")
class EndOfStackTest {
    private static final int STACK = 256 << 10;

    /** Meanwhile the methods are compiled, which makes their frames smaller. */
    private static final int ROUNDS = 3;

    private RpmaPeer peer;
    private RpmaMemory memory;
    private String before;
    private int handles;

    @BeforeEach
    void open() {
        peer = TestDevice.peer();
        memory = RpmaMemory.allocate(8192);
        before = StandIn.alive();
        handles = Natives.handleCount();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(Natives.handleCount()).isEqualTo(handles);
        assertThat(StandIn.alive()).isEqualTo(before);
        memory.close();
        peer.close();
    }

    /** A call, and what then must work. */
    private interface Case {
        Runnable call() throws Exception;

        void afterwards() throws Exception;
    }

    private interface Cases {
        Case next() throws Exception;
    }

    /**
     * Goes to the end of the stack, and makes the call there, then one frame above, and so on until the call has room.
     *
     * @param overflows counts the calls that had none
     */
    private static void fromTheEnd(Runnable call, int[] overflows) {
        try {
            fromTheEnd(call, overflows);
            return;
        } catch (StackOverflowError e) {
            overflows[0]++;
        }
        call.run();
    }

    private static void atEachDepth(Cases cases) throws Exception {
        FutureTask<Integer> run = new FutureTask<>(() -> overflows(cases));
        new Thread(null, run, "deep", STACK).start();
        assertThat(run.get(Limit.WAIT_S, SECONDS)).isGreaterThan(ROUNDS);
    }

    private static int overflows(Cases cases) throws Exception {
        // classes are loaded and initialised by a call that has room
        Case first = cases.next();
        first.call().run();
        first.afterwards();
        int[] overflows = new int[1];
        for (int round = 0; round < ROUNDS; round++) {
            Case next = cases.next();
            fromTheEnd(next.call(), overflows);
            next.afterwards();
        }
        return overflows[0];
    }

    private record Closed(Runnable call, List<AutoCloseable> objects) implements Case {
        @Override
        public void afterwards() throws Exception {
            for (AutoCloseable object : objects) {
                object.close();
            }
        }
    }

    @Test
    void aRegionIsClosed() throws Exception {
        atEachDepth(() -> {
            RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND);
            return new Closed(region::close, List.of(region));
        });
    }

    @Test
    void manyObjectsAreClosed() throws Exception {
        atEachDepth(() -> {
            RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND);
            RpmaMrLocal other = peer.register(memory, RpmaMrUsage.RECV);
            return new Closed(() -> RpmaObjects.closeAll(List.of(region, other)), List.of(region, other));
        });
    }

    @Test
    void aPoolIsClosed() throws Exception {
        atEachDepth(() -> {
            RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 1024);
            return new Closed(pool::close, List.of(pool));
        });
    }

    @Test
    void aBufferIsTakenAndGivenBack() throws Exception {
        try (RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 1024)) {
            long[] ticket = {RpmaMemoryPool.EMPTY};
            atEachDepth(() -> new Case() {
                @Override
                public Runnable call() {
                    return () -> {
                        if (ticket[0] == RpmaMemoryPool.EMPTY) {
                            ticket[0] = pool.take();
                        }
                        pool.giveBack(ticket[0]);
                        ticket[0] = RpmaMemoryPool.EMPTY;
                    };
                }

                @Override
                public void afterwards() {
                    assertThat(pool.available()).isEqualTo(pool.size());
                }
            });
        }
    }

    @Test
    void anEndpointIsServedAndWaitedFor() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create();
                RpmaEp endpoint = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            RpmaEventLoop.Registration[] registration = new RpmaEventLoop.Registration[1];
            atEachDepth(() -> new Case() {
                @Override
                public Runnable call() {
                    return () -> {
                        registration[0] = loop.onRequest(endpoint, null, request -> {});
                        registration[0].cancel();
                    };
                }

                @Override
                public void afterwards() throws Exception {
                    if (registration[0] != null) {
                        registration[0].cancel();
                    }
                    // no loop has claimed the endpoint
                    assertThat(endpoint.nextConnReq(null, 0, NANOSECONDS)).isEmpty();
                }
            });
        }
    }

    @Test
    void waitsLoseNoDescriptor() throws Exception {
        try (RpmaEp endpoint = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            int[] most = new int[1];
            atEachDepth(() -> new Case() {
                @Override
                public Runnable call() {
                    return () -> {
                        try {
                            endpoint.nextConnReq(null, 1, NANOSECONDS);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    };
                }

                @Override
                public void afterwards() {
                    if (most[0] == 0) {
                        most[0] = eventfds();
                    }
                    Eventually.becomeByGc("no lost eventfd", () -> eventfds() <= most[0]);
                }
            });
        }
    }

    private static int eventfds() {
        int count = 0;
        for (File descriptor : new File("/proc/self/fd").listFiles()) {
            try {
                count += Files.readSymbolicLink(descriptor.toPath()).toString().contains("[eventfd]") ? 1 : 0;
            } catch (IOException e) {
                // the descriptor of the directory itself
            }
        }
        return count;
    }

    @Test
    void aServedEndpointIsClosed() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            atEachDepth(() -> {
                RpmaEp endpoint = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
                RpmaEventLoop.Registration registration = loop.onRequest(endpoint, null, request -> {});
                return new Case() {
                    @Override
                    public Runnable call() {
                        return endpoint::close;
                    }

                    @Override
                    public void afterwards() {
                        endpoint.close();
                        assertThat(registration.isActive()).isFalse();
                    }
                };
            });
        }
    }

    @Test
    void aLoopIsClosed() throws Exception {
        try (RpmaEp endpoint = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            atEachDepth(() -> {
                RpmaEventLoop loop = RpmaEventLoop.create();
                loop.onRequest(endpoint, null, request -> {});
                return new Case() {
                    @Override
                    public Runnable call() {
                        return loop::close;
                    }

                    @Override
                    public void afterwards() throws Exception {
                        loop.close();
                        assertThat(endpoint.nextConnReq(null, 0, NANOSECONDS)).isEmpty();
                    }
                };
            });
        }
    }
}
