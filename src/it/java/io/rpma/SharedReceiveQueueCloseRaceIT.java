// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.testing.Race;
import io.rpma.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Closes shared receive queues, their regions and their configurations while other threads use them. */
@Tag("soak")
@Tag("stand-in")
class SharedReceiveQueueCloseRaceIT extends CloseRace {
    @Test
    void theSharedReceiveQueueIsClosedWhilePostingAndPolling() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaSrq srq = RpmaSrq.create(peer, null)) {
                    RpmaCq rcq = srq.getRcq().orElseThrow();
                    race.run(
                            () -> {
                                srq.recv(target, 0, SIZE, 1);
                                srq.recv(2);
                                RpmaBatch batch = BATCHES.get();
                                batch.clear();
                                batch.recv(srq, target, 0, SIZE, 3);
                                batch.recv(srq, 4);
                                batch.post();
                                rcq.poll(COMPLETIONS.get());
                                return true;
                            },
                            srq::close);
                }
            }
        }
    }

    @Test
    void theSharedReceiveQueueIsClosedWhileWaiting() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaSrq srq = RpmaSrq.create(peer, null)) {
                    RpmaCq rcq = srq.getRcq().orElseThrow();
                    race.run(() -> rcq.await(COMPLETIONS.get()) >= 0, srq::close);
                }
            }
        }
    }

    @Test
    void theSharedReceiveQueueIsClosedWhileAsked() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaSrq srq = RpmaSrq.create(peer, null)) {
                    RpmaCq rcq = srq.getRcq().orElseThrow();
                    race.run(
                            () -> {
                                rcq.await(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS);
                                return rcq.getFd() >= 0;
                            },
                            srq::close);
                }
            }
        }
    }

    @Test
    void theRegionOfASharedReceiveQueueIsClosed() throws Exception {
        try (Race race = new Race(2);
                RpmaSrq srq = RpmaSrq.create(peer, null)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaMrLocal region = peer.register(memory, RpmaMrUsage.RECV)) {
                    race.run(() -> srq.recv(region, 0, SIZE, 1) || true, region::close);
                }
            }
        }
    }

    @Test
    void theConfigurationOfASharedReceiveQueueIsClosed() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaSrqCfg used = RpmaSrqCfg.create()) {
                    race.run(
                            () -> {
                                RpmaSrq.create(peer, used).close();
                                return true;
                            },
                            used::close);
                }
            }
        }
    }

    /** A request uses one of the two queues, and this queue can't be closed before the request. */
    @Test
    void theSharedReceiveQueueOfAConfigurationIsExchangedAndClosed() throws Exception {
        try (Race race = new Race(1);
                RpmaSrq kept = RpmaSrq.create(peer, null)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (RpmaSrq exchanged = RpmaSrq.create(peer, null);
                        RpmaConnCfg used = RpmaConnCfg.create().setSrq(exchanged)) {
                    race.run(
                            () -> {
                                RpmaConnReq.create(peer, TestDevice.address(), port, used)
                                        .close();
                                return true;
                            },
                            () -> {
                                used.setSrq(kept);
                                while (!closeUnlessInUse(exchanged)) {
                                    Thread.onSpinWait();
                                }
                                drop(used);
                            });
                }
            }
        }
    }
}
