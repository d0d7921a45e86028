// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Measures calls, and reports a call that does not return. */
final class Calls {
    /** Far more than the time limits of the calls: closing takes seconds, and guests on a busy machine are slow. */
    private static final long MOST_MS = TimeUnit.SECONDS.toMillis(60);

    private final Timer timer = new Timer("watch", true);
    private final Map<String, Long> longest = new TreeMap<>();

    /** A call of the library. */
    interface Call {
        void make() throws InterruptedException, ReportedException;
    }

    void make(String name, Call call) throws InterruptedException, ReportedException {
        Thread caller = Thread.currentThread();
        TimerTask watch = new TimerTask() {
            @Override
            public void run() {
                hang(name, caller);
            }
        };
        timer.schedule(watch, MOST_MS);
        long start = System.nanoTime();
        try {
            call.make();
        } finally {
            watch.cancel();
            timer.purge();
            longest.merge(name, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start), Math::max);
        }
    }

    private static void hang(String name, Thread caller) {
        StringBuilder report = new StringBuilder(Partner.END).append(name).append(" hangs");
        for (StackTraceElement frame : caller.getStackTrace()) {
            report.append(" at ").append(frame);
        }
        System.out.println(report);
    }

    /** The longest calls since the last report, in milliseconds. */
    String report() {
        String report = "longest calls in ms: " + longest;
        longest.clear();
        return report;
    }
}
