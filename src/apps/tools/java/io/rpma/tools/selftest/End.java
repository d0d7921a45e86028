// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
import io.rpma.support.Errors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The side that posts, and compares. It has a connection for one operation. */
abstract class End implements AutoCloseable {
    /** The context of the operation that is checked. */
    static final long OPERATION = 1;

    static final long MESSAGE = 2;
    static final long ANSWER = 3;

    /** The offset of the message, and of the answer. */
    static final long MESSAGE_SLOT = Answer.DATA;

    static final long ANSWER_SLOT = Answer.DATA + Answer.SLOT;

    /** The operations of a batch. */
    static final int BATCH = 16;

    static final int IMMEDIATE = 0x01020304;

    /** The size of each queue. */
    static final int QUEUE = 32;

    private static final int MESSAGE_LENGTH = 100;

    /** The names of the errors with which devices, and the kernel for them, refuse an operation. */
    private static final Set<String> REFUSALS = Set.of("EINVAL", "ENOSYS", "EOPNOTSUPP");

    /** The memory of this side. */
    final RpmaMemory memory;

    /** What the memory of the other side must contain. */
    private final byte[] expected = new byte[Answer.DATA];

    /** The results with which a device refuses an operation that it has accepted, or the other side's device does. */
    private final Set<RpmaWcStatus> refusals =
            EnumSet.of(RpmaWcStatus.LOC_QP_OP_ERR, RpmaWcStatus.REM_INV_REQ_ERR, RpmaWcStatus.REM_OP_ERR);

    private final Random random = new Random();
    private final Set<Long> done = new HashSet<>();
    private final RpmaCompletions completions = RpmaCompletions.create(16);
    private final long timeout;
    private final long began = System.nanoTime();
    private int answerLength;

    /**
     * Makes a side.
     *
     * @param memory of {@link Answer#MEMORY} bytes; the caller closes it
     * @param timeout for each wait, in nanoseconds
     */
    End(RpmaMemory memory, long timeout) {
        this.memory = memory;
        this.timeout = timeout;
    }

    /** Thrown if a device refuses an operation. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1;

        RefusedException(String reason) {
            super(reason);
        }
    }

    /** Thrown if an operation is flushed: the connection has ended, which is no refusal of the operation. */
    private static final class FlushedException extends IOException {
        private static final long serialVersionUID = 1;

        FlushedException(String reason) {
            super(reason);
        }
    }

    /** Waits for completions; returns none after the timeout. */
    abstract int take(RpmaCompletions into, long nanos) throws InterruptedException;

    /** Posts the receive of the answer. */
    abstract boolean postAnswer();

    /** Posts the send of a message. */
    abstract boolean postMessage(int length);

    /** Fills the memory of this side with new bytes. */
    final void fill() {
        byte[] bytes = new byte[Answer.DATA];
        random.nextBytes(bytes);
        memory.buffer(0, Answer.DATA).put(bytes);
    }

    /** Returns the bytes of this side. */
    final byte[] bytes(long offset, int length) {
        byte[] bytes = new byte[length];
        memory.buffer(offset, length).get(bytes);
        return bytes;
    }

    /** Returns a word as devices store it. */
    static byte[] word(long value) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(value)
                .array();
    }

    /** Expects that the other side has bytes of this side at an offset. */
    final void expect(long offset, byte[] bytes) {
        System.arraycopy(bytes, 0, expected, (int) offset, bytes.length);
    }

    /** Expects that this side has read the bytes of the other side. */
    final void expectRead(int from, long to, int length) throws IOException {
        if (!Arrays.equals(Arrays.copyOfRange(expected, from, from + length), bytes(to, length))) {
            throw new IOException("the bytes that were read are not the bytes of the other side");
        }
    }

    static void posted(boolean posted) throws IOException {
        if (!posted) {
            throw new IOException("the queue is full");
        }
    }

    /** Posts an operation that a device can refuse. */
    static void postedUnlessRefused(BooleanSupplier post) throws IOException {
        posted(unlessRefused(post::getAsBoolean));
    }

    /**
     * Makes the call with which a device can refuse an operation.
     *
     * @throws RefusedException if it does
     */
    static <T> T unlessRefused(Supplier<T> call) throws RefusedException {
        try {
            return call.get();
        } catch (RpmaException e) {
            if (REFUSALS.contains(e.errnoName())) {
                throw new RefusedException(Errors.line(e));
            }
            throw e;
        }
    }

    /** Waits until an operation has succeeded. */
    final void await(long context) throws IOException, InterruptedException {
        long end = System.nanoTime() + timeout;
        while (!done.remove(context)) {
            if (!take(end - System.nanoTime())) {
                throw silent();
            }
        }
    }

    /**
     * Waits for the answer, which stays for {@link #await}.
     *
     * @return false after {@code nanos}
     */
    final boolean hasAnswer(long nanos) throws IOException, InterruptedException {
        long end = System.nanoTime() + nanos;
        while (!done.contains(ANSWER)) {
            if (System.nanoTime() - began > timeout) {
                throw silent();
            }
            if (!take(end - System.nanoTime())) {
                return false;
            }
        }
        return true;
    }

    private IOException silent() {
        return new IOException("no completion within " + NANOSECONDS.toSeconds(timeout) + " s");
    }

    /** Waits for completions, and returns whether there are any. */
    private boolean take(long nanos) throws IOException, InterruptedException {
        boolean any = false;
        FlushedException flushed = null;
        int taken = take(completions, Math.max(0, nanos));
        while (taken > 0) {
            any = true;
            for (int i = 0; i < taken; i++) {
                RpmaWcStatus status = completions.status(i);
                if (status == RpmaWcStatus.WR_FLUSH_ERR) {
                    flushed = new FlushedException(reason(status));
                    continue;
                }
                checkSuccess(completions.wrId(i), status);
                done.add(completions.wrId(i));
                if (completions.wrId(i) == ANSWER) {
                    answerLength = (int) completions.byteLen(i);
                }
            }
            // another completion can say what has broken the connection
            taken = flushed == null ? 0 : take(completions, 0);
        }
        if (flushed != null) {
            throw flushed;
        }
        return any;
    }

    private static String reason(RpmaWcStatus status) {
        return status + " (" + status.description() + ")";
    }

    /** Checks the result of an operation whose connection was not ended before. */
    final void checkSuccess(long context, RpmaWcStatus status) throws IOException {
        if (status == RpmaWcStatus.SUCCESS) {
            return;
        }
        throw context == OPERATION && refusals.contains(status)
                ? new RefusedException(reason(status))
                : new IOException(reason(status));
    }

    /** Counts an access that the other side does not permit as a refusal. Call this after a write to its memory. */
    final void accessCanBeRefused() {
        refusals.add(RpmaWcStatus.REM_ACCESS_ERR);
    }

    /** Waits for the answer to a message of the operation. */
    final Answer answer() throws IOException, InterruptedException {
        await(ANSWER);
        Answer answer = Answer.read(memory.buffer(ANSWER_SLOT, Answer.SLOT), answerLength);
        if (!answer.isOf(expected)) {
            throw new IOException("the memory of the other side has other bytes than were written");
        }
        return answer;
    }

    /** Waits until the receive of the answer ends, because the connection has ended. */
    final void awaitFlushed() throws IOException, InterruptedException {
        try {
            await(ANSWER);
        } catch (FlushedException e) {
            return; // as it must
        }
        throw new IOException("a receive has succeeded after the end of the connection");
    }

    /** Sends a message, and compares the memory of the other side. */
    final void compare() throws IOException, InterruptedException {
        byte[] message = new byte[MESSAGE_LENGTH];
        random.nextBytes(message);
        memory.buffer(MESSAGE_SLOT, Answer.SLOT).put(message);
        posted(postAnswer());
        posted(postMessage(message.length));
        await(MESSAGE);
        check(answer(), null, message);
    }

    /** Compares an answer. */
    static void check(Answer answer, Integer immediate, byte[] message) throws IOException {
        if (!Arrays.equals(message, answer.message())) {
            throw new IOException("the other side has received other bytes than were sent");
        }
        if (!Objects.equals(immediate, answer.immediate())) {
            throw new IOException(
                    "the other side has received the immediate data " + answer.immediate() + ", and not " + immediate);
        }
    }

    @Override
    public abstract void close();
}
