// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * A simulated memory of the other side, whose connection can break at any operation and whose power can be cut.
 *
 * <p>A store is a write and a flush; a commit is an atomic write and a flush. These operations are carried out in their
 * order, at random moments before {@link #await} returns. If the connection breaks at a write, a random part of the
 * bytes is written. All other operations from the break on are not carried out. Bytes that are written but not flushed
 * are visible, and a power cut reverts a random part of them.
 *
 * <p>For connections chosen at random, the other side makes bytes persistent on request: the bytes of a store arrive
 * before earlier commits are carried out.
 */
public final class FakeMemory implements RemoteStore {
    /** The number of operations for a connection that does not break by itself. */
    public static final int NEVER = Integer.MAX_VALUE;

    private interface Operation {
        /** Carries out the operation, or only a part of it because the connection breaks. */
        void carryOut(boolean whole);
    }

    private final String name;
    private final ByteBuffer staging;
    private final Random random;
    private final byte[] visible;
    private final byte[] persistent;
    private final Set<Integer> atomicWords = new HashSet<>();
    private final Deque<Operation> queue = new ArrayDeque<>();
    private boolean isAsked;
    private boolean connected;
    private int operationsLeft;
    private long posted;
    private long done;

    public FakeMemory(String name, int size, ByteBuffer staging, Random random) {
        this.name = name;
        this.staging = staging;
        this.random = random;
        visible = new byte[size];
        persistent = new byte[size];
        connect(NEVER);
    }

    /** Sets bytes, as the other side's own program does. */
    public void set(int offset, byte[] bytes) {
        System.arraycopy(bytes, 0, visible, offset, bytes.length);
        System.arraycopy(bytes, 0, persistent, offset, bytes.length);
    }

    /** Returns a view of the bytes that the other side's own program sees. */
    public ByteBuffer content() {
        return ByteBuffer.wrap(visible);
    }

    /** Connects. The connection breaks after this number of operations. */
    public void connect(int operations) {
        queue.clear();
        // the first nextBoolean() is the same for all small seeds
        isAsked = (random.nextInt() & 1) != 0;
        connected = true;
        posted = 0;
        done = 0;
        operationsLeft = operations;
    }

    /** Breaks the connection. */
    public void disconnect() {
        connected = false;
        queue.clear();
    }

    /**
     * Breaks the connection and cuts the power. Bytes that are not flushed survive at random, an atomic word as a
     * whole.
     */
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
