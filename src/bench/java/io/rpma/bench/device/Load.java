package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaCq;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;

/**
 * A number of operations with so many of them under way at a time; {@code native/bench/load.c} does the same.
 *
 * @param operation which one
 * @param size of each in bytes
 * @param depth how many are under way
 * @param waits for completions, else it polls
 * @param count how many there are
 */
record Load(Operation operation, long size, int depth, boolean waits, long count) {
    /** The size of the memory on both sides. */
    static final long MEMORY_SIZE = 16 << 20;

    private static final int COMPLETIONS = 16;

    /** Operation context of what is done only when its answer is there. */
    private static final long NOT_COUNTED = -1;

    /** Takes the completions of loads, one load at a time. */
    static RpmaCompletions completions() {
        return RpmaCompletions.create(COMPLETIONS);
    }

    /**
     * Runs the load.
     *
     * @param memory source and destination on this side
     * @param samples gets the time from each completion to the next, which with a depth of 1 is the round trip of each
     *     operation; or null
     * @param first index of the first sample
     * @return how long it took, in nanoseconds
     */
    long run(Connection connection, RpmaMrLocal memory, RpmaCompletions completions, long[] samples, int first)
            throws InterruptedException {
        long posted = 0;
        long done = 0;
        long received = 0;
        boolean answered = operation.isAnswered();
        long start = System.nanoTime();
        long last = start;
        while (done < count) {
            for (; posted < count && posted - done < depth; posted++) {
                if (answered) {
                    receive(connection.conn(), memory, received++);
                }
                post(connection, memory, posted);
            }
            int taken = take(connection.cq(), completions);
            for (int i = 0; i < taken; i++) {
                if (!completions.isSuccess(i)) {
                    throw new IllegalStateException("an operation failed: " + completions.status(i));
                }
                if (completions.wrId(i) == NOT_COUNTED) {
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
     * Takes completions: at least one if the load waits. A poll that finds none gives the processor away: the work of soft-RoCE
     * may be waiting for this one, where there are few, and would wait for the end of a time slice.
     */
    private int take(RpmaCq cq, RpmaCompletions completions) throws InterruptedException {
        if (waits) {
            return cq.await(completions);
        }
        int taken = cq.poll(completions);
        if (taken == 0) {
            Thread.yield();
        }
        return taken;
    }

    /** Where the bytes of an operation are, on both sides. */
    private long offset(long number) {
        return number % depth * size % MEMORY_SIZE;
    }

    private void receive(RpmaConn conn, RpmaMrLocal memory, long number) {
        check(conn.recv(memory, offset(number), size, number));
    }

    private void post(Connection connection, RpmaMrLocal memory, long number) {
        RpmaConn conn = connection.conn();
        RpmaMrRemote dram = connection.dram();
        long offset = offset(number);
        switch (operation) {
            case WRITE:
                check(conn.write(dram, offset, memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case READ:
                check(conn.read(memory, offset, dram, offset, size, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case FLUSH_VISIBILITY:
                flush(conn, dram, memory, number, RpmaFlushType.VISIBILITY);
                break;
            case FLUSH_PERSISTENT:
                flush(conn, connection.pmem(), memory, number, RpmaFlushType.PERSISTENT);
                break;
            case ATOMIC_WRITE:
                check(conn.atomicWrite(dram, offset, number, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case SEND:
                check(conn.send(memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, NOT_COUNTED));
                break;
            case WRITE_WITH_IMM:
                check(conn.writeWithImm(
                        dram, offset, memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, (int) number, NOT_COUNTED));
                break;
            default:
                throw new AssertionError(operation);
        }
    }

    private void flush(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal memory, long number, RpmaFlushType type) {
        long offset = offset(number);
        check(conn.write(remote, offset, memory, offset, size, RpmaConn.F_COMPLETION_ON_ERROR, number));
        check(conn.flush(remote, offset, size, type, RpmaConn.F_COMPLETION_ALWAYS, number));
    }

    private static void check(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("a queue is full");
        }
    }
}
