package io.rpma.bench.device;

import io.rpma.RpmaCompletions;

/**
 * A number of operations with so many of them under way at a time; {@code native/bench/load.c} does the same.
 *
 * @param operation which one
 * @param size of each in bytes
 * @param depth how many are under way
 * @param how completions are taken
 * @param count how many there are
 */
record Load(Operation operation, long size, int depth, Completions how, long count) {
    /** The size of the memory on both sides. */
    static final long MEMORY_SIZE = 16 << 20;

    private static final int CAPACITY = 16;

    /** The load of a command; {@code native/bench/client.c} tells its parts. */
    static Load of(String[] words) {
        return new Load(
                Operation.of(words[1]),
                Long.parseLong(words[2]),
                Integer.parseInt(words[3]),
                Completions.of(words[4]),
                Integer.parseInt(words[5]));
    }

    /** Takes the completions of loads, one load at a time. */
    static RpmaCompletions completions() {
        return RpmaCompletions.create(CAPACITY);
    }

    /**
     * Runs the load.
     *
     * @param samples gets the time from each completion to the next, which with a depth of 1 is the round trip of each
     *     operation; or null
     * @param first index of the first sample
     * @return how long it took, in nanoseconds
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
     * Each turn posts what can be under way and takes completions. It is a call, by which the JVM gets at what it has compiled:
     * a loop that has just begun is interpreted for its first thousand turns, which were half of all where each waits.
     */
    private final class Turns {
        private final End end;
        private final RpmaCompletions completions;
        private final long[] samples;
        private final int first;
        private final boolean answered = operation.isAnswered();
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
            for (; posted < count && posted - done < depth; posted++) {
                if (answered) {
                    end.receive(offset(received), size, received);
                    received++;
                }
                end.post(operation, offset(posted), size, posted);
            }
            int taken = take(end, completions);
            for (int i = 0; i < taken; i++) {
                count(i);
            }
        }

        private void count(int index) {
            if (!completions.isSuccess(index)) {
                throw new IllegalStateException("an operation failed: " + completions.status(index));
            }
            if (completions.wrId(index) == End.NOT_COUNTED) {
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
     * Takes completions: at least one unless the load polls. A poll that finds none gives the processor away: the work of
     * soft-RoCE may be waiting for this one, where there are few, and would wait for the end of a time slice.
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

    /** Where the bytes of an operation are, on both sides. */
    private long offset(long number) {
        return number % depth * size % MEMORY_SIZE;
    }
}
