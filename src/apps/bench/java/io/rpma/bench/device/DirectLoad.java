// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.IOException;

/**
 * A load whose completions are not taken through this library. {@link Load#run} takes them through it.
 *
 * @param load the load
 * @param end the connection
 */
record DirectLoad(Load load, DirectEnd end) {
    /** A client's side of a connection with the target. */
    interface DirectEnd {
        /** Posts the receive of the answer with this number, if the end has operations with answers. */
        default void receive(long number) throws IOException {
            throw new UnsupportedOperationException("no answers");
        }

        /** Posts the operation with this number. */
        void post(long number) throws IOException;

        /** Takes completions, and returns the number of operations that they complete. */
        int take() throws IOException;
    }

    /**
     * Runs the load.
     *
     * @param samples gets the time from each completion to the next, or null
     * @return the duration in nanoseconds
     */
    long run(long[] samples) throws IOException {
        Turns turns = new Turns(samples);
        long start = System.nanoTime();
        turns.last = start;
        while (turns.done < load.count()) {
            turns.next();
        }
        return System.nanoTime() - start;
    }

    /** The turns of the loop. A turn is a method call for the reason that {@link Load} gives. */
    private final class Turns {
        private final long[] samples;
        private final boolean answered = load.operation().isAnswered();
        private long posted;
        private long done;
        private long last;

        Turns(long[] samples) {
            this.samples = samples;
        }

        void next() throws IOException {
            for (; posted < load.count() && posted - done < load.depth(); posted++) {
                if (answered) {
                    end.receive(posted);
                }
                end.post(posted);
            }
            for (int taken = end.take(); taken > 0; taken--) {
                if (samples != null) {
                    long now = System.nanoTime();
                    samples[(int) done] = now - last;
                    last = now;
                }
                done++;
            }
        }
    }
}
