// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Race;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closes endpoints, requests, and the objects that they are made of, while other threads use them. */
@Tag("soak")
@Tag("stand-in")
class EndpointCloseRaceIT extends CloseRace {
    /** Rounds that make a peer each. */
    private static final int PEERS = 1 + Race.CONNECTIONS / 5;

    private final int otherPort = TestDevice.port();

    @Test
    void theEndpointIsClosedWhileAsked() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaEp other = RpmaEp.listen(peer, TestDevice.address(), otherPort)) {
                    race.run(
                            () -> {
                                assertTrue(other.nextConnReq(null, 10, TimeUnit.MICROSECONDS)
                                        .isEmpty());
                                return other.getFd() >= 0;
                            },
                            other::close);
                }
            }
        }
    }

    @Test
    void theConfigurationIsClosedWhileRequestsAreWaitedFor() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaConnCfg used = RpmaConnCfg.create()) {
                    race.run(
                            () -> untilClosed(
                                    used,
                                    () -> ep.nextConnReq(used, 10, TimeUnit.MICROSECONDS)
                                            .isEmpty()),
                            used::close);
                }
            }
        }
    }

    @Test
    void theConfigurationIsClosedWhileRequestsAreMade() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaConnCfg used = RpmaConnCfg.create()) {
                    race.run(
                            () -> untilClosed(used, () -> {
                                RpmaConnReq.create(peer, TestDevice.address(), port, used)
                                        .close();
                                return true;
                            }),
                            used::close);
                }
            }
        }
    }

    /** The exception names the configuration. */
    private static boolean untilClosed(RpmaConnCfg used, Race.Use use) throws Exception {
        try {
            return use.use();
        } catch (IllegalStateException e) {
            assertEquals(name(used) + " is closed", e.getMessage());
            return false;
        }
    }

    @Test
    void theEndpointIsClosedWhileWaiting() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaEp other = RpmaEp.listen(peer, TestDevice.address(), otherPort)) {
                    race.run(
                            () -> {
                                other.nextConnReq(null);
                                return true;
                            },
                            other::close);
                }
            }
        }
    }

    @Test
    void theEndpointIsClosedWhileAClientComes() throws Exception {
        try (Race race = new Race(1)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (RpmaEp other = RpmaEp.listen(peer, TestDevice.address(), otherPort);
                        RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), otherPort, null)
                                .connect()) {
                    race.run(
                            () -> {
                                try (RpmaConnReq request = other.nextConnReq(null)) {
                                    drop(request.connect());
                                } catch (RpmaException e) {
                                    // a late request of the previous round, whose client is gone
                                    assertEquals(RpmaError.PROVIDER, e.error(), e.toString());
                                }
                                return true;
                            },
                            () -> closeAtLast(other));
                    assertTrue(client.toString().contains("RpmaConn#"));
                }
            }
        }
    }

    /** Retries, because an endpoint can't be closed before its requests are connected or closed. */
    private static void closeAtLast(RpmaEp ep) {
        boolean closed = false;
        while (!closed) {
            try {
                ep.close();
                closed = true;
            } catch (IllegalStateException e) {
                assertTrue(e.getMessage().contains("can't be closed before"), e.getMessage());
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void theRequestIsClosedOrConnectedWhilePosting() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                boolean connects = round % 2 == 0;
                try (RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), port, null)) {
                    race.run(() -> request.recv(target, 0, SIZE, 1) || true, () -> {
                        if (connects) {
                            request.connect().close();
                        } else {
                            drop(request);
                        }
                    });
                }
            }
            takeWhatIsLeft();
        }
    }

    /** Closes the requests that clients left at the endpoint when they gave up. */
    private void takeWhatIsLeft() throws InterruptedException {
        for (int i = 0; i < Race.CONNECTIONS; i++) {
            try {
                ep.nextConnReq(null, 0, TimeUnit.SECONDS).ifPresent(RpmaConnReq::close);
            } catch (RpmaException e) {
                assertEquals(RpmaError.PROVIDER, e.error(), e.toString());
            }
        }
    }

    @Test
    void theRegionOfARequestIsClosed() throws Exception {
        try (Race race = new Race(2);
                RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), port, null)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaMrLocal region = peer.register(memory, RpmaMrUsage.RECV)) {
                    race.run(() -> request.recv(region, 0, SIZE, 1) || true, region::close);
                }
            }
        }
    }

    @Test
    void aRequestIsConnectedOrClosedOnlyOnce() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                AtomicInteger connected = new AtomicInteger();
                try (RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), port, null)) {
                    race.run(
                            () -> {
                                drop(request.connect());
                                connected.incrementAndGet();
                                return false;
                            },
                            request::close);
                    assertTrue(connected.get() <= 1, "connected twice");
                    assertThrows(IllegalStateException.class, request::connect);
                }
            }
            takeWhatIsLeft();
        }
    }

    private interface Making {
        AutoCloseable make(EndpointCloseRaceIT test, RpmaPeer parent, RpmaMemory memory, RpmaConnCfg cfg)
                throws Exception;
    }

    /** The objects that are made from a peer and other objects. */
    private enum Made {
        REGION((test, parent, memory, cfg) -> parent.register(memory, RpmaMrUsage.READ_SRC)),
        ENDPOINT((test, parent, memory, cfg) -> RpmaEp.listen(parent, TestDevice.address(), test.otherPort)),
        BUFFER((test, parent, memory, cfg) -> parent.register(ByteBuffer.allocateDirect(SIZE), RpmaMrUsage.READ_SRC)),
        SRQ((test, parent, memory, cfg) -> RpmaSrq.create(parent, null)),
        REQUEST((test, parent, memory, cfg) -> RpmaConnReq.create(parent, TestDevice.address(), test.port, cfg));

        private final Making making;

        Made(Making making) {
            this.making = making;
        }
    }

    /** The peer, the memory and the configuration are closed while an object is made from them. */
    @ParameterizedTest
    @EnumSource
    void whatSomethingIsMadeOfIsClosed(Made made) throws Exception {
        try (Race race = new Race(1)) {
            for (int round = 0; round < PEERS; round++) {
                try (RpmaPeer parent = TestDevice.peer();
                        RpmaMemory mapped = RpmaMemory.allocate(SIZE);
                        RpmaConnCfg used = RpmaConnCfg.create()) {
                    race.run(
                            () -> {
                                made.making.make(this, parent, mapped, used).close();
                                return true;
                            },
                            () -> {
                                drop(used);
                                closeUnlessInUse(mapped);
                                while (!closeUnlessInUse(parent)) {
                                    Thread.onSpinWait();
                                }
                            });
                }
            }
        }
    }
}
