// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Stack;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A memory that is cut into buffers, which the program takes and gives back. One registration of the memory serves all
 * buffers.
 *
 * <pre>{@code
 * try (RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 4096);
 *         RpmaMrLocal region = peer.register(pool.memory(), RpmaMrUsage.WRITE_SRC)) {
 *     long ticket = pool.take();
 *     if (ticket != RpmaMemoryPool.EMPTY) {
 *         pool.buffer(ticket).putLong(42);
 *         if (!conn.write(remote, 0, region, pool.offset(ticket), 8, RpmaConn.F_COMPLETION_ALWAYS, ticket)) {
 *             pool.giveBack(ticket); // the send queue is full
 *         }
 *     }
 *     int count = conn.getCq().poll(completions); // at any time, in any thread
 *     for (int i = 0; i < count; i++) {
 *         pool.giveBack(completions.wrId(i)); // also if the operation has failed
 *     }
 * }
 * }</pre>
 *
 * <p>A <b>ticket</b> stands for a buffer from {@link #take()} to {@link #giveBack}. It is a positive number, so that it
 * can be the context of an operation, whose completion returns it. Offsets are relative to the start of the memory, so
 * register the whole memory, with {@code io.rpma} or {@code io.rpma.rdmacm}.
 *
 * <p><b>Misuse.</b> A ticket whose buffer was given back, a ticket of another pool, and any other number raise
 * {@link IllegalStateException}, and the pool does not change. An old ticket is valid again after exactly 2^39 takes of
 * the same buffer. The library can't check accesses through a {@link ByteBuffer} or an offset that the program keeps
 * after {@link #giveBack}, nor operations under way: they stay inside the bytes of the buffer, but can change the bytes
 * of the next taker. So give a buffer back after its operation is completed, or after its connection is closed.
 *
 * <p>Safe for use by many threads; a lock admits one at a time. A buffer can be taken in one thread and given back in
 * another: all accesses before {@link #giveBack} happen before the accesses of the next taker. {@link #take()},
 * {@link #buffer} and {@link #giveBack} allocate nothing.
 */
public final class RpmaMemoryPool implements AutoCloseable {
    /** The answer of {@link #take()} if there is no free buffer. */
    public static final long EMPTY = 0;

    /** Each buffer starts at a multiple of this number of bytes, a line of the processors' caches. */
    public static final int ALIGNMENT = 64;

    /** The maximum number of buffers of a pool. */
    public static final int MAX_BUFFERS = (1 << 24) - 1;

    /** The maximum number of size classes of a pool. */
    public static final int MAX_CLASSES = 64;

    /**
     * A number of buffers of the same length.
     *
     * @param length the number of bytes of each buffer, at least 1
     * @param count the number of buffers, 1 to {@link #MAX_BUFFERS}
     */
    public record SizeClass(int length, int count) {
        /**
         * Checks the numbers.
         *
         * @param length the number of bytes of each buffer, at least 1
         * @param count the number of buffers, 1 to {@link #MAX_BUFFERS}
         * @throws IllegalArgumentException if a number is out of range
         */
        public SizeClass {
            checkLength(length);
            if (count < 1 || count > MAX_BUFFERS) {
                throw new IllegalArgumentException("a pool has 1 to " + MAX_BUFFERS + " buffers, not " + count);
            }
        }
    }

    // A ticket is a generation (39 bits) and an index (24 bits), which starts with 1. The state of a taken buffer is
    // its ticket; the
    // state of a free buffer is the negative of its next ticket.
    private static final long GENERATION = MAX_BUFFERS + 1;
    private static final AtomicLong GENERATIONS = new AtomicLong();
    /** The first generations of pools are far from each other, so that a ticket is of one pool. */
    private static final long GENERATION_STEP = 0x9e37_79b9_7f4a_7c15L;

    /** The buffers of a size class: their place in the memory, their indexes, and how many are free. */
    private static final class Section {
        private final int length;
        private final long start;
        private final long stride;
        private final int first;
        private final int count;
        private int free;

        Section(SizeClass buffers, long start, int first) {
            length = buffers.length;
            count = buffers.count;
            stride = stride(length);
            this.start = start;
            this.first = first;
        }

        private long offset(int index) {
            return start + (index - first) * stride;
        }
    }

    /** A pool has no native object. */
    private static final ObjectKind KIND = new ObjectKind("RpmaMemoryPool") {
        @Override
        protected long delete(Resource pool) {
            return 0;
        }
    };

    private final Resource object;
    private final RpmaMemory memory;
    private final int size;
    /** From the shortest buffers, which have the highest indexes, to the longest. */
    private final Section[] sections;
    /** By index. The lock of this array guards {@link #stacks} and {@link Section#free}. */
    private final AtomicLongArray states;
    /** The indexes of the free buffers: each section has a stack at the place of its indexes. */
    private final int[] stacks;

    private final ByteBuffer[] views;

    private RpmaMemoryPool(RpmaMemory memory, int size, Section... sections) {
        this.memory = memory;
        this.size = size;
        this.sections = sections;
        states = new AtomicLongArray(size + 1);
        stacks = new int[size + 1];
        views = new ByteBuffer[size + 1];
        object = new Resource(this, "RpmaMemoryPool", KIND, memory.object());
    }

    /**
     * Creates a pool of buffers of the same length, as many as the memory has room for.
     *
     * @param memory the memory, which can't be closed before the pool
     * @param length the number of bytes of each buffer, at least 1
     * @return the pool; the caller closes it
     * @throws IllegalArgumentException if {@code length} is not positive, or the memory has room for no buffer or for
     *     more than {@link #MAX_BUFFERS}
     * @throws IllegalStateException if {@code memory} is closed
     */
    public static RpmaMemoryPool create(RpmaMemory memory, int length) {
        checkLength(length);
        long count = memory.size() < length ? 0 : (memory.size() - length) / stride(length) + 1;
        if (count < 1 || count > MAX_BUFFERS) {
            throw new IllegalArgumentException("a pool has 1 to " + MAX_BUFFERS + " buffers, but the " + memory.size()
                    + " bytes of the memory have room for " + count + " buffers of " + length + " bytes");
        }
        return create(memory, new SizeClass(length, (int) count));
    }

    /**
     * Creates a pool of buffers of several lengths. The longest buffers are first in the memory. If all lengths are
     * powers of two of at least {@link #ALIGNMENT}, each buffer starts at a multiple of its length.
     *
     * @param memory the memory, which can't be closed before the pool
     * @param classes the lengths and the numbers of the buffers, 1 to {@link #MAX_CLASSES}
     * @return the pool; the caller closes it
     * @throws IllegalArgumentException if {@code classes} is empty or too long, has more than {@link #MAX_BUFFERS}
     *     buffers, or needs more bytes than the memory has
     * @throws IllegalStateException if {@code memory} is closed
     */
    public static RpmaMemoryPool create(RpmaMemory memory, SizeClass... classes) {
        if (classes.length < 1 || classes.length > MAX_CLASSES) {
            throw new IllegalArgumentException(
                    "a pool has 1 to " + MAX_CLASSES + " size classes, not " + classes.length);
        }
        SizeClass[] sorted = classes.clone();
        Arrays.sort(sorted, Comparator.comparingInt(SizeClass::length));
        Section[] sections = new Section[sorted.length];
        long start = 0;
        long end = 0;
        int size = 0;
        for (int i = sorted.length - 1; i >= 0; i--) {
            if (sorted[i].count > MAX_BUFFERS - size) {
                throw new IllegalArgumentException(
                        "a pool has at most " + MAX_BUFFERS + " buffers: " + Arrays.toString(sorted));
            }
            Section section = new Section(sorted[i], start, size + 1);
            size += section.count;
            start = section.offset(size + 1);
            end = section.offset(size) + section.length;
            sections[i] = section;
        }
        if (end > memory.size()) {
            throw new IllegalArgumentException("the buffers need " + end + " bytes, and the memory has " + memory.size()
                    + ": " + Arrays.toString(sorted));
        }
        RpmaMemoryPool pool = new RpmaMemoryPool(memory, size, sections);
        pool.open();
        return pool;
    }

    private static long stride(int length) {
        return ((long) length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    private static void checkLength(int length) {
        if (length < 1) {
            throw new IllegalArgumentException("a buffer has at least 1 byte, not " + length);
        }
    }

    private void open() {
        object.begin();
        try {
            for (Section section : sections) {
                addBuffers(section);
            }
            object.made("RpmaMemoryPool", Resource.WITHOUT_ENTRY);
        } finally {
            object.endMaking();
        }
    }

    /** Makes the views as slices of few buffers, because each buffer of the memory has a cleaner. */
    private void addBuffers(Section section) {
        long generation = GENERATIONS.addAndGet(GENERATION_STEP) & Long.MAX_VALUE & -GENERATION;
        int perWhole = (int) Math.max(1, Integer.MAX_VALUE / section.stride);
        ByteBuffer whole = null;
        for (int i = 0; i < section.count; i++) {
            int index = section.first + i;
            int place = i % perWhole;
            if (place == 0) {
                int last = Math.min(perWhole, section.count - i) - 1;
                whole = memory.buffer(section.offset(index), (int) (last * section.stride) + section.length);
            }
            views[index] = whole.slice((int) (place * section.stride), section.length);
            states.setPlain(index, -(generation | index));
            stacks[section.first + section.count - 1 - i] = index;
        }
        section.free = section.count;
    }

    /**
     * Takes a buffer of the shortest length that is free.
     *
     * @return the ticket, a positive number; {@link #EMPTY} if no buffer is free
     * @throws IllegalStateException if this object is closed
     */
    public long take() {
        return take(0);
    }

    /**
     * Takes a buffer of the shortest length that is free and not less than {@code size}. The content is as the previous
     * taker and the devices have left it.
     *
     * @param size the number of bytes that the buffer must have
     * @return the ticket, a positive number; {@link #EMPTY} if no buffer of sufficient length is free
     * @throws IllegalArgumentException if {@code size} is negative, or more than the length of the longest buffers
     * @throws IllegalStateException if this object is closed
     */
    public long take(long size) {
        int longest = sections[sections.length - 1].length;
        if (size < 0 || size > longest) {
            throw new IllegalArgumentException(
                    "the buffers of the pool have at most " + longest + " bytes, not " + size);
        }
        synchronized (states) {
            for (Section section : sections) {
                if (section.length >= size && section.free > 0) {
                    int index = stacks[section.first + section.free - 1];
                    long ticket = -states.get(index);
                    states.set(index, ticket);
                    // last, because a call can fail for lack of stack
                    section.free--;
                    return ticket;
                }
            }
        }
        object.checkOpen();
        return EMPTY;
    }

    /**
     * {@return the offset of the first byte of the buffer in the memory; a multiple of {@link #ALIGNMENT}}
     *
     * @param ticket the ticket of the buffer
     * @throws IllegalStateException if the ticket is not valid, or this object is closed
     */
    public long offset(long ticket) {
        int index = check(ticket);
        return section(index).offset(index);
    }

    /**
     * {@return the number of bytes of the buffer: the length of its size class, which can be more than the number that
     * was requested}
     *
     * @param ticket the ticket of the buffer
     * @throws IllegalStateException if the ticket is not valid, or this object is closed
     */
    public int length(long ticket) {
        return section(check(ticket)).length;
    }

    /**
     * {@return a view of the bytes of the buffer, big-endian, with the position 0 and the limit {@link #length};
     * read-only if the memory is}
     *
     * <p>The view belongs to the pool: each call for the same buffer resets the same view and returns it. After
     * {@link #giveBack}, the next taker has the view.
     *
     * @param ticket the ticket of the buffer
     * @throws IllegalStateException if the ticket is not valid, or this object is closed
     */
    public ByteBuffer buffer(long ticket) {
        return views[check(ticket)].clear().order(ByteOrder.BIG_ENDIAN);
    }

    /**
     * Gives a buffer back. From now on the ticket is not valid, and the bytes and the view belong to the next taker.
     *
     * @param ticket the ticket of the buffer
     * @throws IllegalStateException if the ticket is not valid, for example because the buffer was already given back;
     *     or this object is closed
     */
    public void giveBack(long ticket) {
        synchronized (states) {
            int index = check(ticket);
            Section section = section(index);
            states.set(index, -(ticket + GENERATION & Long.MAX_VALUE));
            stacks[section.first + section.free++] = index;
        }
    }

    private Section section(int index) {
        // the indexes descend
        int i = 0;
        while (index < sections[i].first) {
            i++;
        }
        return sections[i];
    }

    private int check(long ticket) {
        int index = (int) (ticket & MAX_BUFFERS);
        if (ticket <= 0 || index == 0 || index > size || states.get(index) != ticket) {
            object.checkOpen();
            throw new IllegalStateException("0x" + Long.toHexString(ticket) + " is no ticket of a taken buffer of "
                    + object + ": the buffer was given back, or the ticket is not from this pool");
        }
        return index;
    }

    /** {@return the memory of the buffers} */
    public RpmaMemory memory() {
        return memory;
    }

    /** {@return the number of buffers, free and taken} */
    public int size() {
        return size;
    }

    /** {@return the number of free buffers} */
    public int available() {
        synchronized (states) {
            int free = 0;
            for (Section section : sections) {
                free += section.free;
            }
            return free;
        }
    }

    /**
     * Closes the pool. Has no effect if it is already closed. Waits while another thread closes it. The memory stays
     * open. It stays mapped while the pool or a view of a buffer is reachable, also after {@link RpmaMemory#close()}.
     *
     * @throws IllegalStateException if buffers are taken; the message has their number, and nothing is closed
     */
    @Override
    public void close() {
        Stack.reserve();
        synchronized (states) {
            if (object.isClosed()) {
                return;
            }
            int taken = size - available();
            if (taken > 0) {
                throw new IllegalStateException(
                        object + " can't be closed before " + taken + " of its " + size + " buffers are given back");
            }
            object.close();
            for (Section section : sections) {
                section.free = 0;
            }
        }
    }

    @Override
    public String toString() {
        return object.describe(size + " buffers");
    }
}
