// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The client in C, called from Java through native methods that check nothing ({@code native/bench/bare.c}). It does not use
 * the library, and so it has no locks, handles or interruptions. Its additional time over C is the cost that JNI adds to any
 * binding. Its only command is {@code load}, with librpma's operations.
 */
final class Bare extends LoadClient {
    private Bare() {}

    /**
     * Runs commands until the input ends. The end of the process frees all objects.
     *
     * @param args the address and the port of the target
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        System.load(Path.of(Clients.program("libbare.so")).toAbsolutePath().toString());
        open(args[0], Integer.parseInt(args[1]));
        new Bare().serve();
    }

    /** Runs the load without {@link Load#run}, which takes completions through the library. */
    @Override
    long run(Load load, long[] samples) {
        setLoad(
                load.operation().command(),
                load.size(),
                load.depth(),
                load.how().command());
        Turns turns = new Turns(load, samples);
        long start = System.nanoTime();
        turns.last = start;
        while (turns.done < load.count()) {
            turns.next();
        }
        return System.nanoTime() - start;
    }

    /** The turns of the loop. A turn is a method call for the reason that {@link Load} gives. */
    private static final class Turns {
        private final Load load;
        private final long[] samples;
        private final boolean answered;
        private long posted;
        private long done;
        private long last;

        Turns(Load load, long[] samples) {
            this.load = load;
            this.samples = samples;
            answered = load.operation().isAnswered();
        }

        void next() {
            for (; posted < load.count() && posted - done < load.depth(); posted++) {
                if (answered) {
                    receive(posted);
                }
                post(posted);
            }
            for (int taken = take(); taken > 0; taken--) {
                if (samples != null) {
                    long now = System.nanoTime();
                    samples[(int) done] = now - last;
                    last = now;
                }
                done++;
            }
        }
    }

    /** Connects to the target. */
    private static native void open(String address, int port);

    /** Sets the load of the following calls. */
    private static native void setLoad(String operation, long size, int depth, String completions);

    /** Posts the operation with this number. */
    private static native void post(long number);

    /** Posts the receive of the answer with this number. */
    private static native void receive(long number);

    /** Takes completions, and returns the number of operations that they complete. */
    private static native int take();
}
