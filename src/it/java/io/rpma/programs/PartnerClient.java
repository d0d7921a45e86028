// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.RpmaObjects;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A client of {@link PartnerProgram}. Each operation waits for its end, and gives up after the time limit. */
abstract class PartnerClient implements AutoCloseable {
    /** The time limit of each wait. */
    static final int LIMIT_S = 5;

    static final int LIMIT_MS = (int) TimeUnit.SECONDS.toMillis(LIMIT_S);

    static final int SIZE = PartnerProgram.SIZE;
    static final int MESSAGE = PartnerProgram.MESSAGE;

    // the parts of the memory: the source of writes, the destination of reads, and the messages

    static final int READ = SIZE;
    static final int SENT = 2 * SIZE;
    static final int RECEIVED = SENT + MESSAGE;

    /** Between two looks for an event. */
    private static final int STEP_MS = 100;

    private final List<AutoCloseable> open = new ArrayList<>();
    final RpmaMemory memory = opened(RpmaMemory.allocate(RECEIVED + MESSAGE));
    private final byte[] written = new byte[SIZE];
    private final RpmaCompletions completions = RpmaCompletions.create(1);
    private final Random random;
    private final boolean faultyNetwork;

    /**
     * @param random for the bytes
     * @param faultyNetwork whether a read with wrong bytes counts as a failure if the next operation fails
     */
    PartnerClient(Random random, boolean faultyNetwork) {
        this.random = random;
        this.faultyNetwork = faultyNetwork;
    }

    /** Takes at most one completion within a time limit. */
    private interface Taking {
        int take(RpmaCompletions completions, int millis) throws InterruptedException;
    }

    /** Connects. After a failure the client must be closed. */
    abstract void connect() throws InterruptedException, ReportedException;

    abstract boolean postWrite(int length);

    abstract boolean postRead(int length);

    abstract boolean postFlush();

    abstract boolean postAtomicWrite(long value);

    abstract boolean postRecv();

    abstract boolean postSend();

    abstract int takeSent(RpmaCompletions taken, int millis) throws InterruptedException;

    abstract int takeReceived(RpmaCompletions taken, int millis) throws InterruptedException;

    /** The next event within the time limit, or null. */
    abstract Object event(int millis) throws InterruptedException;

    /** Writes from memory that is registered for this write alone. */
    abstract void register() throws InterruptedException, ReportedException;

    /** Starts to disconnect, and returns the event that reports the end. */
    abstract Object startDisconnect();

    final void write() throws InterruptedException, ReportedException {
        await(postWrite(SIZE));
    }

    /** Reads, and checks the bytes of the last {@link #transfer}. */
    final void read() throws InterruptedException, ReportedException {
        memory.buffer().put(READ, new byte[SIZE]);
        await(postRead(SIZE));
        byte[] read = new byte[SIZE];
        memory.buffer().get(READ, read);
        checkRead(Arrays.equals(written, read));
    }

    /**
     * With soft-RoCE on a faulty network, a read can succeed with wrong bytes. The next operation then fails: see
     * docs/guarantees.md.
     */
    private void checkRead(boolean right) throws InterruptedException, ReportedException {
        if (!right && faultyNetwork) {
            try {
                await(postRead(Long.BYTES));
            } catch (ReportedException e) {
                throw new ReportedException("wrong bytes, then " + e.getMessage());
            }
        }
        assertTrue(right, "wrong bytes without a report");
    }

    final void flush() throws InterruptedException, ReportedException {
        await(postFlush());
    }

    final void atomicWrite(long value) throws InterruptedException, ReportedException {
        await(postAtomicWrite(value));
    }

    /** Sends a message, and checks the answer. */
    final void exchange() throws InterruptedException, ReportedException {
        long message = random.nextLong();
        RdmaPair.putLong(memory, SENT, message);
        Pair.assertPosted(postRecv());
        await(postSend());
        await(this::takeReceived);
        assertEquals(message, RdmaPair.getLong(memory, RECEIVED));
    }

    final void disconnect() throws InterruptedException, ReportedException {
        awaitEvent(startDisconnect());
    }

    /** Uses each kind of operation, and checks the bytes that come back. */
    final void transfer() throws InterruptedException, ReportedException {
        long value = random.nextLong();
        atomicWrite(value);
        await(postRead(Long.BYTES));
        checkRead(value == RdmaPair.getLong(memory, READ));

        random.nextBytes(written);
        memory.buffer().put(0, written);
        write();
        flush();
        read();

        exchange();
    }

    /** Waits for the event. */
    final void awaitEvent(Object expected) throws InterruptedException, ReportedException {
        Object event = event(LIMIT_MS);
        if (event != expected) {
            throw new ReportedException(event == null ? "no " + expected + " in " + LIMIT_S + " s" : event);
        }
    }

    /** Waits for the completion of an operation. */
    final void await(boolean posted) throws InterruptedException, ReportedException {
        Pair.assertPosted(posted);
        await(this::takeSent);
    }

    private void await(Taking taking) throws InterruptedException, ReportedException {
        for (int waited = 0; waited < LIMIT_MS; waited += STEP_MS) {
            if (taking.take(completions, STEP_MS) != 0) {
                if (!completions.isSuccess(0)) {
                    throw new ReportedException(completions.status(0));
                }
                return;
            }
            Object event = event(0);
            if (event != null) {
                throw new ReportedException(event);
            }
        }
        throw new ReportedException("no completion in " + LIMIT_S + " s");
    }

    /** Remembers an object that {@link #close} closes. */
    final <T extends AutoCloseable> T opened(T object) {
        open.add(object);
        return object;
    }

    @Override
    public final void close() {
        RpmaObjects.closeAll(open);
    }
}
