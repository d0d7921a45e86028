// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Blocked;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Every wait ends by its timeout, by close and by interrupt. */
class WaitIT {
    private static void assertTimesOut(Callable<Boolean> isEmpty) throws Exception {
        long start = System.nanoTime();
        assertTrue(isEmpty.call());
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50), "came back too early");
    }

    @Test
    void timeouts() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect();
                RpmaEp ep = RpmaEp.listen(pair.peer, TestDevice.address(), TestDevice.port())) {
            assertTimesOut(() -> ep.nextConnReq(null, 50, TimeUnit.MILLISECONDS).isEmpty());
            assertTimesOut(
                    () -> pair.client.nextEvent(50, TimeUnit.MILLISECONDS).isEmpty());
            assertTimesOut(() -> pair.client.getCq().await(completions, 50, TimeUnit.MILLISECONDS) == 0);
        }
    }

    @Test
    void aZeroTimeoutDoesNotWaitAndANegativeOneIsRefused() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect();
                RpmaEp ep = RpmaEp.listen(pair.peer, TestDevice.address(), TestDevice.port())) {
            assertTrue(ep.nextConnReq(null, 0, TimeUnit.SECONDS).isEmpty());
            assertTrue(pair.client.nextEvent(0, TimeUnit.SECONDS).isEmpty());
            assertEquals(0, pair.client.getCq().await(completions, 0, TimeUnit.SECONDS));
            assertThrows(IllegalArgumentException.class, () -> ep.nextConnReq(null, -1, TimeUnit.SECONDS));
            assertThrows(NullPointerException.class, () -> ep.nextConnReq(null, 0, null));
            assertThrows(IllegalArgumentException.class, () -> pair.client.nextEvent(-1, TimeUnit.SECONDS));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.getCq().await(completions, -1, TimeUnit.SECONDS));
        }
    }

    @Test
    void closeWakesTheWaitForARequest() {
        try (RpmaPeer peer = TestDevice.peer()) {
            RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
            Blocked.assertWokenByClose(() -> ep.nextConnReq(null), ep::close);
        }
    }

    @Test
    void closeWakesTheWaitForAnEvent() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            Blocked.assertWokenByClose(pair.client::nextEvent, pair.client::close);
        }
    }

    @Test
    void closeWakesTheWaitForACompletion() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect()) {
            Blocked.assertWokenByClose(() -> pair.client.getCq().await(completions), pair.client::close);
        }
    }

    @Test
    void closeWakesAllThatWait() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            Blocked event = new Blocked(pair.client::nextEvent);
            Blocked other = new Blocked(pair.client::nextEvent);
            Blocked completion = new Blocked(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            pair.client.close();
            assertEquals(IllegalStateException.class, event.failure().getClass());
            assertEquals(IllegalStateException.class, other.failure().getClass());
            assertEquals(IllegalStateException.class, completion.failure().getClass());
        }
    }

    @Test
    void interruptWakesEveryWait() throws InterruptedException {
        try (Pair pair = Pair.connect();
                RpmaEp ep = RpmaEp.listen(pair.peer, TestDevice.address(), TestDevice.port())) {
            Blocked.assertWokenByInterrupt(() -> ep.nextConnReq(null));
            Blocked.assertWokenByInterrupt(() -> ep.nextConnReq(null, 1, TimeUnit.HOURS));
            Blocked.assertWokenByInterrupt(pair.client::nextEvent);
            Blocked.assertWokenByInterrupt(() -> pair.client.nextEvent(1, TimeUnit.HOURS));
            Blocked.assertWokenByInterrupt(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            Blocked.assertWokenByInterrupt(
                    () -> pair.client.getCq().await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
        }
    }

    @Test
    void aThreadThatIsInterruptedAlreadyDoesNotWait() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, pair.client::nextEvent);
            assertFalse(Thread.currentThread().isInterrupted());
        }
    }

    @Test
    void theConnectionWorksOnAfterAnInterruptedWait() throws InterruptedException {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            Blocked.assertWokenByInterrupt(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            Pair.assertPosted(
                    pair.client.write(regions.remote, 0, regions.local, 0, 64, RpmaConn.F_COMPLETION_ALWAYS, 5));
            Pair.assertDone(pair.client, 5);
        }
    }

    @Test
    void aWaitThatIsOverForACompletionWakesNobodyElse() throws Exception {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            Blocked waiter = new Blocked(() -> pair.server.nextEvent());
            Pair.assertPosted(
                    pair.client.write(regions.remote, 0, regions.local, 0, 64, RpmaConn.F_COMPLETION_ALWAYS, 5));
            Pair.assertDone(pair.client, 5);
            assertFalse(waiter.isDone());
            pair.client.disconnect();
            assertEquals(RpmaConnEvent.CLOSED, waiter.result());
        }
    }
}
