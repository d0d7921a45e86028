package io.rpma.examples.common;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * Memory of another side that may be lost at any moment, and whose power may be cut.
 *
 * <p>Stores and commits are taken apart into writes, atomic writes and flushes, which are carried out in their order, some
 * time before somebody has waited for them. When the connection is lost the rest is not, and a write that was under way is
 * carried out in part. What is not flushed is visible, and may be gone, byte by byte, when the power is cut.
 *
 * <p>One that is asked to persist, instead of being flushed, may get the bytes of a store before it carries out earlier commits.
 */
public final class FakeMemory implements RemoteStore {
    /** Never lost by itself. */
    public static final int NEVER = Integer.MAX_VALUE;

    private interface Operation {
        /** What is done of it if the connection breaks. */
        void carryOut(boolean whole);
    }

    private final String name;
    private final ByteBuffer staging;
    private final Random random;
    private final byte[] visible;
    private final byte[] persistent;
    private final Set<Integer> atomicWords = new HashSet<>();
    private final Deque<Operation> queue = new ArrayDeque<>();
    private final boolean isAsked;
    private boolean connected = true;
    private int operationsLeft = NEVER;
    private long posted;
    private long done;

    public FakeMemory(String name, int size, ByteBuffer staging, Random random) {
        this.name = name;
        this.staging = staging;
        this.random = random;
        isAsked = random.nextBoolean();
        visible = new byte[size];
        persistent = new byte[size];
    }

    /** Sets bytes, as the other side's own program does. */
    public void set(int offset, byte[] bytes) {
        System.arraycopy(bytes, 0, visible, offset, bytes.length);
        System.arraycopy(bytes, 0, persistent, offset, bytes.length);
    }

    /** What the other side's own program sees; a view. */
    public ByteBuffer content() {
        return ByteBuffer.wrap(visible);
    }

    /** Connects, and is lost after so many operations. */
    public void connect(int operations) {
        queue.clear();
        connected = true;
        posted = 0;
        done = 0;
        operationsLeft = operations;
    }

    /** Loses the connection. */
    public void disconnect() {
        connected = false;
        queue.clear();
    }

    /** Loses the connection and the power: what is not flushed is there afterwards or not, as it comes. */
    public void cutPower() {
        disconnect();
        for (int word = 0; word < visible.length; word += Long.BYTES) {
            boolean survives = random.nextBoolean();
            for (int i = word; i < Math.min(visible.length, word + Long.BYTES); i++) {
                if (visible[i] != persistent[i]) {
                    if (atomicWords.contains(word) ? survives : random.nextBoolean()) {
                        persistent[i] = visible[i];
                    }
                    visible[i] = persistent[i];
                }
            }
        }
    }

    public boolean isConnected() {
        return connected;
    }

    @Override
    public long size() {
        return visible.length;
    }

    @Override
    public void read(long offset, int into, int length) throws LostException {
        await(post(whole -> staging.put(into, visible, (int) offset, whole ? length : 0)));
    }

    private long flush(long offset, long length) throws LostException {
        return post(
                whole -> System.arraycopy(visible, (int) offset, persistent, (int) offset, whole ? (int) length : 0));
    }

    @Override
    public long store(long offset, int from, int length) throws LostException {
        Operation write = whole -> {
            for (int i = 0; i < length; i++) {
                if (whole || random.nextBoolean()) {
                    visible[(int) offset + i] = staging.get(from + i);
                }
            }
        };
        if (isAsked && connected) {
            write.carryOut(true);
        }
        post(isAsked ? whole -> {} : write);
        return flush(offset, length);
    }

    @Override
    public long commit(long offset, long value) throws LostException {
        atomicWords.add((int) offset);
        post(whole -> {
            if (whole) {
                content().order(ByteOrder.LITTLE_ENDIAN).putLong((int) offset, value);
            }
        });
        return flush(offset, Long.BYTES);
    }

    private long post(Operation operation) throws LostException {
        if (!connected) {
            throw new LostException(this, "closed");
        }
        queue.add(operation);
        posted++;
        for (int i = random.nextInt(3); i > 0 && !queue.isEmpty(); i--) {
            carryOutNext();
        }
        return posted;
    }

    @Override
    public void await(long ticket) throws LostException {
        while (done < ticket) {
            if (!connected) {
                throw new LostException(this, "closed");
            }
            carryOutNext();
        }
    }

    private void carryOutNext() throws LostException {
        boolean whole = operationsLeft > 0;
        queue.remove().carryOut(whole);
        if (!whole) {
            disconnect();
            throw new LostException(this, "broken");
        }
        operationsLeft--;
        done++;
    }

    @Override
    public String toString() {
        return name;
    }
}
