// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.testing.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Uses the library at the limit of threads of its user, and again below the limit. The user must have no other process.
 */
public final class ThreadLimitProgram {
    private static final int THREADS = 40;

    private ThreadLimitProgram() {}

    /** Prints the limit, and the outcome of each use. */
    public static void main(String[] arguments) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> await(end));
            thread.setDaemon(true);
            thread.start();
        }
        long limit = limitThreads();
        System.out.println("limit: " + limit);
        NoThreadsProgram.use("without threads, ");
        end.countDown();
        // the kernel ends a thread after Java has
        Eventually.become("the threads have ended", () -> threadsOfThisProcess() < limit - THREADS / 4);
        NoThreadsProgram.use("");
    }

    /** Sets a limit below the number of threads, because the JVM may end some of its own threads at any time. */
    private static long limitThreads() throws IOException, InterruptedException {
        // the process, and the thread with which the JDK waits for it, start before the limit
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", "read limit; prlimit --pid=$PPID --nproc=$limit:")
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // Only JVMs run with a sanitizer.
        builder.environment().remove("LD_PRELOAD");
        Process process = builder.start();
        long limit = threadsOfThisProcess() - THREADS / 2;
        try (OutputStream input = process.getOutputStream()) {
            input.write((limit + "\n").getBytes(StandardCharsets.US_ASCII));
        }
        if (process.waitFor() != 0) {
            throw new IllegalStateException("prlimit failed");
        }
        return limit;
    }

    private static long threadsOfThisProcess() {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
