package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closing what other threads post on: they finish first or get an exception, and nothing worse happens. */
@Timeout(120)
class CloseRaceIT {
    private static final int ROUNDS = 50;
    private static final int SIZE = 64;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private interface Use {
        void use(Pair pair, Regions regions, RpmaCompletions completions) throws InterruptedException;
    }

    private interface Closing {
        void close(Pair pair, Regions regions);
    }

    private static void race(Use use, Closing closing) throws Exception {
        ExecutorService user = Executors.newSingleThreadExecutor();
        try {
            for (int round = 0; round < ROUNDS; round++) {
                try (Pair pair = Pair.connect();
                        Regions regions = new Regions(pair.peer, SIZE)) {
                    CountDownLatch started = new CountDownLatch(1);
                    Future<Class<?>> end =
                            user.submit((Callable<Class<?>>) () -> useUntilItFails(use, pair, regions, started));
                    started.await();
                    closing.close(pair, regions);
                    assertEquals(IllegalStateException.class, end.get(Pair.TIMEOUT_S, TimeUnit.SECONDS));
                }
            }
        } finally {
            user.shutdownNow();
        }
    }

    private static Class<?> useUntilItFails(Use use, Pair pair, Regions regions, CountDownLatch started)
            throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(16);
        while (true) {
            try {
                use.use(pair, regions, completions);
                started.countDown();
            } catch (IllegalStateException e) {
                return e.getClass();
            }
        }
    }

    private static void writeAndPoll(Pair pair, Regions regions, RpmaCompletions completions) {
        pair.client.write(regions.remote, 0, regions.local, 0, SIZE, ALWAYS, 1);
        pair.client.getCq().poll(completions);
    }

    @Test
    void theConnectionWhileWriting() throws Exception {
        race(CloseRaceIT::writeAndPoll, (pair, regions) -> pair.client.close());
    }

    @Test
    void theLocalRegionWhileWriting() throws Exception {
        race(CloseRaceIT::writeAndPoll, (pair, regions) -> regions.local.close());
    }

    @Test
    void theRemoteRegionWhileWriting() throws Exception {
        race(CloseRaceIT::writeAndPoll, (pair, regions) -> regions.remote.close());
    }

    @Test
    void theConnectionWhileWaiting() throws Exception {
        race(
                (pair, regions, completions) -> {
                    pair.client.flush(regions.remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 1);
                    pair.client.getCq().await(completions, Pair.TIMEOUT_S, TimeUnit.SECONDS);
                },
                (pair, regions) -> pair.client.close());
    }

    @Test
    void theOtherSideWhileWriting() throws Exception {
        race(CloseRaceIT::writeAndPoll, (pair, regions) -> {
            pair.server.close();
            pair.client.close();
        });
    }
}
