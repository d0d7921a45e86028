// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs a task in several threads that start at once. */
public final class Together {
    private Together() {}

    /** The task of a thread. */
    @FunctionalInterface
    public interface Task {
        /** Runs the task in the thread with this number. */
        void run(int thread) throws Exception;
    }

    /** Runs the task in this many threads, and throws the failure of the lowest-numbered thread that fails. */
    public static void run(int threads, Task task) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> results = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                results.add(executor.submit(() -> {
                    start.await();
                    task.run(thread);
                    return null;
                }));
            }
            for (Future<?> result : results) {
                result.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } finally {
            executor.shutdownNow();
        }
    }
}
