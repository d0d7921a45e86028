package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every wait ends by its timeout, by close and by interrupt. */
@Timeout(60)
class WaitIT {
    /** A thread inside of a wait: started, and seen in the native that blocks. */
    private static final class Blocked {
        private final FutureTask<Object> task;
        private final Thread thread;

        Blocked(Callable<?> wait) {
            task = new FutureTask<>(wait::call);
            thread = new Thread(task, "blocked");
            thread.setDaemon(true);
            thread.start();
            while (!isInAwait()) {
                assertFalse(task.isDone(), "the wait ended at once");
                Thread.onSpinWait();
            }
        }

        private boolean isInAwait() {
            for (StackTraceElement frame : thread.getStackTrace()) {
                if (frame.getMethodName().equals("await")
                        && frame.getClassName().equals(Natives.class.getName())) {
                    return true;
                }
            }
            return false;
        }

        Throwable failure() {
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> task.get(Pair.TIMEOUT_S, TimeUnit.SECONDS));
            return failure.getCause();
        }
    }

    private interface Closing {
        void close();
    }

    private static void assertWokenByClose(Callable<?> wait, Closing close) {
        Blocked blocked = new Blocked(wait);
        close.close();
        Throwable failure = blocked.failure();
        assertEquals(IllegalStateException.class, failure.getClass(), failure.toString());
        assertTrue(failure.getMessage().contains("is closed"), failure.getMessage());
    }

    private static void assertWokenByInterrupt(Callable<?> wait) {
        Blocked blocked = new Blocked(wait);
        blocked.thread.interrupt();
        assertEquals(InterruptedException.class, blocked.failure().getClass());
    }

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
            assertThrows(IllegalArgumentException.class, () -> pair.client.nextEvent(-1, TimeUnit.SECONDS));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.getCq().await(completions, -1, TimeUnit.SECONDS));
        }
    }

    @Test
    void closeWakesTheWaitForARequest() {
        try (RpmaPeer peer = TestDevice.peer()) {
            RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
            assertWokenByClose(() -> ep.nextConnReq(null), ep::close);
        }
    }

    @Test
    void closeWakesTheWaitForAnEvent() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            assertWokenByClose(pair.client::nextEvent, pair.client::close);
        }
    }

    @Test
    void closeWakesTheWaitForACompletion() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect()) {
            assertWokenByClose(() -> pair.client.getCq().await(completions), pair.client::close);
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
            assertWokenByInterrupt(() -> ep.nextConnReq(null));
            assertWokenByInterrupt(() -> ep.nextConnReq(null, 1, TimeUnit.HOURS));
            assertWokenByInterrupt(pair.client::nextEvent);
            assertWokenByInterrupt(() -> pair.client.nextEvent(1, TimeUnit.HOURS));
            assertWokenByInterrupt(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            assertWokenByInterrupt(() -> pair.client.getCq().await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
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
            assertWokenByInterrupt(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
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
            assertFalse(waiter.task.isDone());
            pair.client.disconnect();
            assertEquals(RpmaConnEvent.CLOSED, waiter.task.get(Pair.TIMEOUT_S, TimeUnit.SECONDS));
        }
    }
}
