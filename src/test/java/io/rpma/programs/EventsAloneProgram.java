// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import io.rpma.internal.CompletionWait;
import io.rpma.internal.Natives;
import io.rpma.testing.Eventually;
import io.rpma.testing.VirtualThreads;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Waits for a queue that always has an event and never a completion, with a librpma that does nothing. */
public final class EventsAloneProgram {
    private static final long TIMEOUT_MS = 200;

    private EventsAloneProgram() {}

    /**
     * Prints the outcomes of three waits: a wait that times out, and whether its timeout has passed; an interrupted
     * wait; and a wait that the close of the connection ends.
     *
     * @param arguments the path of that librpma, and whether the waiting threads are virtual
     */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        boolean isVirtual = Boolean.parseBoolean(arguments[1]);
        RpmaCompletions completions = RpmaCompletions.create(1);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local("localhost"))) {
            RpmaConn conn = RpmaConnReq.create(peer, "localhost", 7204, null).connect();
            RpmaCq cq = conn.getCq();
            // all objects of that librpma share one eventfd
            Natives.wakerWake(cq.getFd());
            long start = System.nanoTime();
            Wait timed = new Wait(isVirtual, () -> cq.await(completions, TIMEOUT_MS, TimeUnit.MILLISECONDS));
            System.out.println(timed.outcome());
            System.out.println(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
            Wait interrupted = new Wait(isVirtual, () -> cq.await(completions));
            interrupted.awaitBegun();
            interrupted.thread.interrupt();
            System.out.println(interrupted.outcome());
            Wait closed = new Wait(isVirtual, () -> cq.await(completions));
            closed.awaitBegun();
            conn.close();
            System.out.println(closed.outcome());
        }
    }

    private static final class Wait {
        private final FutureTask<Object> task;
        private final Thread thread;

        Wait(boolean isVirtual, Callable<Object> wait) {
            task = new FutureTask<>(wait);
            thread = isVirtual ? VirtualThreads.start(task) : new Thread(task, "waiting");
            if (!isVirtual) {
                thread.start();
            }
        }

        void awaitBegun() {
            Eventually.become(
                    "the thread waits",
                    () -> Stream.of(thread.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals(CompletionWait.class.getName())
                                    && frame.getMethodName().matches("block|park")));
        }

        Object outcome() throws InterruptedException {
            try {
                return task.get();
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
    }
}
