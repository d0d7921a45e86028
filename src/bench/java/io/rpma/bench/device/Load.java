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
        long posted = 0;
        long done = 0;
        long received = 0;
        boolean answered = operation.isAnswered();
        long start = System.nanoTime();
        long last = start;
        while (done < count) {
            for (; posted < count && posted - done < depth; posted++) {
                if (answered) {
                    end.receive(offset(received), size, received);
                    received++;
                }
                end.post(operation, offset(posted), size, posted);
            }
            int taken = take(end, completions);
            for (int i = 0; i < taken; i++) {
                if (!completions.isSuccess(i)) {
                    throw new IllegalStateException("an operation failed: " + completions.status(i));
                }
                if (completions.wrId(i) == End.NOT_COUNTED) {
                    continue;
                }
                if (samples != null) {
                    long now = System.nanoTime();
                    samples[first + (int) done] = now - last;
                    last = now;
                }
                done++;
            }
        }
        return System.nanoTime() - start;
    }

    /**
     * Takes completions: at least one unless the load polls. A poll that finds none gives the processor away: the work of
     * soft-RoCE may be waiting for this one, where there are few, and would wait for the end of a time slice.
     */
    private int take(End end, RpmaCompletions completions) throws InterruptedException {
        if (how != Completions.POLL) {
            return end.await(completions);
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
