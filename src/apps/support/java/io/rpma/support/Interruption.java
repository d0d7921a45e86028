// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets Ctrl-C end a command as an ordinary end: the command prints its results, and its status is the status of the
 * JVM.
 */
public final class Interruption {
    /**
     * The time within which an interrupted command must end. Otherwise the JVM ends without it. The close of a
     * connection to a dead host takes up to 11 s.
     */
    private static final int LIMIT_S = 20;

    /** The status of a program that SIGINT has ended. */
    private static final int INTERRUPTED = 130;

    private Interruption() {}

    /** A command that ends when its thread is interrupted. */
    public interface Command {
        /** Runs the command and returns its exit status. */
        int run() throws IOException, InterruptedException;
    }

    /** Runs a command. A signal that ends the JVM (SIGINT, SIGTERM or SIGHUP) interrupts the command first. */
    public static int endsNormally(Command command) throws IOException {
        Thread runner = Thread.currentThread();
        CountDownLatch ended = new CountDownLatch(1);
        int[] status = {INTERRUPTED};
        Thread hook = new Thread(() -> {
            runner.interrupt();
            await(ended);
            Runtime.getRuntime().halt(status[0]);
        });
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            status[0] = command.run();
        } catch (InterruptedException e) {
            // the command has no result yet
        } finally {
            System.out.flush();
            ended.countDown();
            remove(hook);
        }
        return status[0];
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM ends, and the hook decides about its status
        }
    }

    private static void await(CountDownLatch ended) {
        try {
            ended.await(LIMIT_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
