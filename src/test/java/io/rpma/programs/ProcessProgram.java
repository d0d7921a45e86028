// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.testing.Blocked;
import io.rpma.testing.Pair;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Uses the library while other native code changes the process, and then ends the JVM. */
public final class ProcessProgram {
    private static final int CHILDREN = 10;

    private ProcessProgram() {}

    private static native int forbidMembarrier();

    private static native int forkAndExit();

    /** The arguments are the library with the natives, and the task: "forbid", "stop" or "fork". */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        if (arguments[1].equals("forbid")) {
            RpmaConnCfg.create().close();
            RpmaConnCfg open = RpmaConnCfg.create();
            System.out.println("filter: " + forbidMembarrier());
            open.close();
            RpmaConnCfg.create().close();
            System.out.println("closed");
        } else if (arguments[1].equals("stop")) {
            stop(Pair.connect().client);
        } else {
            fork(Pair.connect().client);
        }
        System.exit(0);
    }

    private static void stop(RpmaConn conn) throws Exception {
        long start = System.nanoTime();
        Blocked wait = new Blocked(() -> conn.nextEvent(5, TimeUnit.SECONDS));
        String self = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("sh", "-c", "kill -STOP " + self + "; sleep 6; kill -CONT " + self).start();
        wait.result();
        System.out.println(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }

    /** A thread that polls has a mark almost always. */
    private static void fork(RpmaConn conn) throws InterruptedException {
        CountDownLatch polls = new CountDownLatch(1);
        Thread poller = new Thread(() -> {
            RpmaCompletions completions = RpmaCompletions.create(1);
            while (true) {
                conn.getCq().poll(completions);
                polls.countDown();
            }
        });
        poller.setDaemon(true);
        poller.start();
        polls.await();
        for (int i = 0; i < CHILDREN; i++) {
            System.out.println("child: " + forkAndExit());
        }
    }
}
