package io.rpma.examples;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** How far something is: on a terminal one line that is rewritten, elsewhere a line every second. */
final class Progress implements AutoCloseable {
    private static final String TO_LINE_START = "\r";
    private static final String CLEAR_REST = "\u001b[K";

    private final String what;
    private final long total;
    private final boolean terminal;
    private final long interval;
    private final long start = System.nanoTime();
    private long lastPrinted = start;
    private long bytes;

    Progress(String what, long total, boolean terminal) {
        this.what = what;
        this.total = total;
        this.terminal = terminal;
        interval = TimeUnit.MILLISECONDS.toNanos(terminal ? 100 : 1000);
    }

    /** Tells how many bytes are done; prints only now and then, so it may be called for every chunk. */
    void update(long done) {
        bytes = done;
        long now = System.nanoTime();
        if (now - lastPrinted >= interval) {
            lastPrinted = now;
            print();
        }
    }

    /** Prints the last state. */
    @Override
    public void close() {
        print();
        if (terminal) {
            System.out.println();
        }
    }

    private void print() {
        double seconds = Math.max(1, System.nanoTime() - start) / 1e9;
        long percent = total == 0 ? 100 : (long) (100.0 * bytes / total);
        String line = String.format(
                Locale.ROOT,
                "%s %s of %s (%d%%), %s/s",
                what,
                Size.format(bytes),
                Size.format(total),
                percent,
                Size.format(bytes / seconds));
        if (terminal) {
            System.out.print(TO_LINE_START + line + CLEAR_REST);
            System.out.flush();
        } else {
            System.out.println(line);
        }
    }
}
