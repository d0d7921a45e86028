// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;

/**
 * A number of operations, {@code depth} of which are under way at a time. {@code src/apps/bench/c/load.c} is the
 * counterpart in C.
 *
 * @param operation the kind of the operations
 * @param size the size of each operation in bytes
 * @param depth the number of operations under way
 * @param how the way to take completions
 * @param count the number of operations
 */
record Load(Operation operation, long size, int depth, Completions how, long count) {
    /** The size of the memory on both sides. */
    static final long MEMORY_SIZE = 16 << 20;

    /** The maximum number of operations in a chain. */
    static final int MOST_CHAINED = 16;

    private static final int CAPACITY = 16;

    /** Returns the length of a chain: half of the depth, so that one chain is under way during the post of the next. */
    static int chainLength(int depth) {
        return Math.min(MOST_CHAINED, depth / 2);
    }

    /** Returns the load of a command; {@code src/apps/bench/c/client.c} documents the words of the command. */
    static Load of(String[] words) {
        return new Load(
                Operation.of(words[1]),
                Long.parseLong(words[2]),
                Integer.parseInt(words[3]),
                Completions.of(words[4]),
                Integer.parseInt(words[5]));
    }

    /** Makes the object that takes the completions of loads, one load at a time. */
    static RpmaCompletions completions() {
        return RpmaCompletions.create(CAPACITY);
    }

    /**
     * Runs the load.
     *
     * @param samples gets the time from each completion to the next, or null; with a depth of 1 this time is the round
     *     trip of an operation
     * @param first the index of the first sample
     * @return the duration in nanoseconds
     */
    long run(End end, RpmaCompletions completions, long[] samples, int first) throws InterruptedException {
        Turns turns = new Turns(end, completions, samples, first);
        long start = System.nanoTime();
        turns.last = start;
        while (turns.done < count) {
            turns.next();
        }
        return System.nanoTime() - start;
    }

    /**
     * The turns of the loop. Each turn posts operations up to the depth and takes completions. A turn is a method call,
     * because a call enters compiled code at once. HotSpot interprets the first thousand iterations of the loop itself
     * each time that the loop starts, which would be half of a load with waits.
     */
    private final class Turns {
        private final End end;
        private final RpmaCompletions completions;
        private final long[] samples;
        private final int first;
        private final boolean answered = operation.isAnswered();
        private final boolean chained = operation == Operation.RDMA_WRITE_CHAINED;
        private long posted;
        private long received;
        private long done;
        private long last;

        Turns(End end, RpmaCompletions completions, long[] samples, int first) {
            this.end = end;
            this.completions = completions;
            this.samples = samples;
            this.first = first;
        }

        void next() throws InterruptedException {
            if (chained) {
                postChains();
            } else {
                postSingly();
            }
            int taken = take(end, completions);
            for (int i = 0; i < taken; i++) {
                count(i);
            }
        }

        private void postSingly() {
            for (; posted < count && posted - done < depth; posted++) {
                if (answered) {
                    end.receive(offset(received), size, received);
                    received++;
                }
                end.post(operation, offset(posted), size, posted);
            }
        }

        private void postChains() {
            while (posted < count) {
                long length = Math.min(chainLength(depth), count - posted);
                if (posted - done + length > depth) {
                    return;
                }
                for (long i = 0; i < length; i++) {
                    end.chain(offset(posted + i), size, length);
                }
                end.postChain();
                posted += length;
            }
        }

        private void count(int index) {
            if (!completions.isSuccess(index)) {
                throw new IllegalStateException("an operation failed: " + completions.status(index));
            }
            if (completions.wrId(index) == End.NOT_COUNTED) {
                return;
            }
            if (chained) {
                done += completions.wrId(index);
                return;
            }
            if (samples != null) {
                long now = System.nanoTime();
                samples[first + (int) done] = now - last;
                last = now;
            }
            done++;
        }
    }

    /**
     * Takes completions, at least one unless the load polls. A poll that finds no completion yields the processor: with
     * few processors, soft-RoCE's own work may wait for this processor, and would otherwise wait until the end of the
     * time slice.
     */
    private int take(End end, RpmaCompletions completions) throws InterruptedException {
        if (how != Completions.POLL) {
            return end.await(operation, completions);
        }
        int taken = end.poll(completions);
        if (taken == 0) {
            Thread.yield();
        }
        return taken;
    }

    /** Returns the offset of an operation's bytes, on both sides. */
    long offset(long number) {
        return number % depth * size % MEMORY_SIZE;
    }
}
