// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads that use an object while another thread closes it: a use succeeds, or fails because the object is closed. */
public final class Race implements AutoCloseable {
    /** The number of rounds if a close costs next to nothing. */
    public static final int ROUNDS = Integer.getInteger("rpma.race.rounds", isLong() ? 2000 : 2);

    /** The number of rounds if each close costs a connection. */
    public static final int CONNECTIONS = Integer.getInteger("rpma.race.connections", isLong() ? 1000 : 1);

    /** The number of rounds per connection. A connection breaks when the device finds a region closed. */
    public static final int ROUNDS_OF_CONNECTION = 50;

    /** The longest delay of a close, in turns of a loop. The random delays let closes meet the uses at every point. */
    private static final int SPINS = 4000;

    private final int users;
    private final CyclicBarrier start;
    private final ExecutorService executor;
    private final Random random = new Random(1);
    private volatile boolean over;

    /** A use of the object. */
    @FunctionalInterface
    public interface Use {
        /** Uses the object, and returns whether to repeat the use. */
        boolean use() throws Exception;
    }

    /**
     * Starts the threads.
     *
     * @param users the number of threads
     */
    public Race(int users) {
        this.users = users;
        start = new CyclicBarrier(users + 1);
        executor = Executors.newFixedThreadPool(users);
    }

    private static boolean isLong() {
        return Boolean.getBoolean("rpma.long");
    }

    /** Runs one round: all threads repeat the use until it ends, and this thread closes the object at a random time. */
    public void run(Use use, Runnable close) throws Exception {
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < users; i++) {
            ends.add(executor.submit(() -> {
                start.await();
                useUntilItEnds(use);
                return null;
            }));
        }
        start.await(Limit.WAIT_S, TimeUnit.SECONDS);
        for (int i = random.nextInt(SPINS); i > 0; i--) {
            Thread.onSpinWait();
        }
        close.run();
        for (Future<?> end : ends) {
            try {
                end.get(Limit.WAIT_S, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError(e.getCause());
            }
        }
    }

    private void useUntilItEnds(Use use) throws Exception {
        try {
            while (!over && use.use()) {
                Thread.onSpinWait();
            }
        } catch (IllegalStateException e) {
            if (e.getMessage() == null || !e.getMessage().contains("closed")) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        over = true;
        executor.shutdownNow();
    }
}
