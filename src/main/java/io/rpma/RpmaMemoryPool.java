// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Closer;
import io.rpma.internal.NativeObject;
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
 * can be the context of an operation. The completion returns the ticket, and the buffer is given back. Offsets are
 * relative to the start of the memory. A pool works with the memory regions of {@code io.rpma} and of
 * {@code io.rpma.rdmacm}. Register the whole memory: the offsets of a region of a part are relative to the part.
 *
 * <p><b>Misuse.</b> Each method checks its ticket. A ticket whose buffer was given back, a ticket of another pool, and
 * any other number raise {@link IllegalStateException}, and the pool does not change. A ticket has a number of 38 bits,
 * which each return of the buffer advances. An old ticket is valid again after exactly 2^38 takes of the same buffer. A
 * random number is valid with a probability of less than 2^-39.
 *
 * <p>The library can't check accesses through a {@link ByteBuffer} or an offset that the program keeps after
 * {@link #giveBack}. They do not crash the JVM, and remain inside the bytes of the buffer, but can change the bytes of
 * the next taker. The same holds for operations under way: give a buffer back after its operation is completed, or
 * after its connection is closed.
 *
 * <p>Safe for use by many threads, without locks. A buffer can be taken in one thread and given back in another thread.
 * All accesses to the buffer before {@link #giveBack} happen before the accesses of the next taker. There are lists of
 * free buffers, twice as many as processors or more. Threads with consecutive {@linkplain Thread#getId() ids} have
 * different lists. A thread takes a buffer from the list of another thread only if its own list is empty. No method
 * blocks, except {@link #close()} while another thread closes the pool. {@link #take()}, {@link #buffer} and
 * {@link #giveBack} allocate nothing.
 *
 * <p>A pool takes up to about 150 bytes on the heap for each buffer.
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

    // A ticket is a generation (38 bits), the flag RESERVED, and an index (24 bits). Indexes start with 1, so that 0
    // ends a list. The state of a taken buffer is its ticket. The state of a free buffer is negative. It has the
    // generation and the flag of the next ticket, and the index of the next buffer of the list. The head of a list has
    // a counter of its changes (40 bits), which makes a compare-and-set fail after any change, and the index of its
    // first buffer.
    //
    // Each list has a reserved buffer, which is never linked to the others: one compare-and-set of its state takes it,
    // and one gives it back. The state of a free reserved buffer has the index of the buffer, or 0 if close() has
    // removed the buffer.

    private static final long INDEX = MAX_BUFFERS;
    private static final long CHANGE = INDEX + 1;
    private static final long RESERVED = INDEX + 1;
    private static final long GENERATION = RESERVED << 1;
    private static final long FREE = Long.MIN_VALUE;

    /** The distance of two words that different threads write, in longs: a line of the processors' caches. */
    private static final int STATE_SHIFT = 3;
    /** Two lines, because processors fetch lines in pairs. */
    private static final int HEAD_SHIFT = 4;

    /** The upper bits are the first generation of the next size class. First generations are far from each other. */
    private static final AtomicLong GENERATIONS = new AtomicLong();

    private static final long GENERATION_STEP = 0x9e37_79b9_7f4a_7c15L;

    /** The buffers of a size class: their place in the memory, their indexes, and their lists. */
    private record Section(int length, long start, long stride, int first, int count, int firstList) {
        long offset(int index) {
            return start + (index - first) * stride;
        }
    }

    private final NativeObject object;
    private final RpmaMemory memory;
    private final int size;

    /** From the shortest buffers to the longest. */
    private final Section[] sections;

    /** The number of lists of each section, which is a power of two, less 1. */
    private final int listMask;

    private final int listShift;

    private final AtomicLongArray heads;
    private final AtomicLongArray states;
    private final ByteBuffer[] views;

    /** A pool has no native object. */
    private static final Closer CLOSER = new Closer("RpmaMemoryPool") {
        @Override
        protected long delete(NativeObject pool) {
            return 0;
        }
    };

    private RpmaMemoryPool(RpmaMemory memory, Section[] sections, int lists) {
        this.memory = memory;
        this.sections = sections;
        listMask = lists - 1;
        listShift = Integer.numberOfTrailingZeros(lists);
        int buffers = 0;
        for (Section section : sections) {
            buffers += section.count;
        }
        size = buffers;
        heads = new AtomicLongArray(sections.length * lists + 2 << HEAD_SHIFT);
        states = new AtomicLongArray(size + 2 << STATE_SHIFT);
        views = new ByteBuffer[size + 1];
        object = new NativeObject(this, "RpmaMemoryPool", CLOSER, memory.object());
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
        return open(memory, new SizeClass(length, (int) count));
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
        return open(memory, sorted);
    }

    private static RpmaMemoryPool open(RpmaMemory memory, SizeClass... sorted) {
        // a power of two, at least twice the number of processors
        int lists = Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors() - 1);
        RpmaMemoryPool pool = new RpmaMemoryPool(memory, sections(memory, lists, sorted), lists);
        pool.open();
        return pool;
    }

    private static Section[] sections(RpmaMemory memory, int lists, SizeClass... sorted) {
        Section[] sections = new Section[sorted.length];
        long start = 0;
        long end = 0;
        int first = 1;
        for (int i = sorted.length - 1; i >= 0; i--) {
            int count = sorted[i].count;
            if (count > MAX_BUFFERS - first + 1) {
                throw new IllegalArgumentException(
                        "a pool has at most " + MAX_BUFFERS + " buffers: " + Arrays.toString(sorted));
            }
            int length = sorted[i].length;
            sections[i] = new Section(length, start, stride(length), first, count, i * lists);
            end = sections[i].offset(first + count - 1) + length;
            start += count * stride(length);
            first += count;
        }
        if (end > memory.size()) {
            throw new IllegalArgumentException("the buffers need " + end + " bytes, and the memory has " + memory.size()
                    + ": " + Arrays.toString(sorted));
        }
        return sections;
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
                addViews(section);
                addBuffers(section);
            }
            object.made("RpmaMemoryPool", NativeObject.WITHOUT_ENTRY);
        } finally {
            object.endMaking();
        }
    }

    /** Makes the views as slices of few buffers, because each buffer of the memory has a cleaner. */
    private void addViews(Section section) {
        int atOnce = (int) Math.max(1, Integer.MAX_VALUE / section.stride);
        for (int done = 0; done < section.count; done += atOnce) {
            int first = section.first + done;
            int count = Math.min(atOnce, section.count - done);
            long length = (count - 1) * section.stride + section.length;
            ByteBuffer whole = memory.buffer(section.offset(first), (int) length);
            for (int i = 0; i < count; i++) {
                views[first + i] = whole.slice((int) (i * section.stride), section.length);
            }
        }
    }

    /** Gives each list consecutive buffers: the views that one thread changes are neighbours on the heap. */
    private void addBuffers(Section section) {
        long free = FREE | GENERATIONS.addAndGet(GENERATION_STEP) & -GENERATION;
        for (int list = 0; list <= listMask; list++) {
            int reserved = reserved(section, list);
            states.setPlain(state(reserved), free | RESERVED | reserved);
            int position = head(section.firstList + list);
            for (int index = reserved(section, list + 1) - 1; index > reserved; index--) {
                states.setPlain(state(index), free | heads.getPlain(position));
                heads.setPlain(position, index);
            }
        }
    }

    /** Returns the index of the reserved buffer. Lists share reserved buffers if there are fewer buffers than lists. */
    private int reserved(Section section, int list) {
        return section.first + (int) ((long) list * section.count >>> listShift);
    }

    /** Returns the position of the head of a list. */
    private static int head(int list) {
        return list + 1 << HEAD_SHIFT;
    }

    private static int state(int index) {
        return index << STATE_SHIFT;
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
     * <p>The method looks into one list after the other. It can miss a buffer that another thread gives back meanwhile.
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
        int own = ownList();
        for (Section section : sections) {
            if (section.length >= size) {
                long ticket = take(section, own);
                if (ticket != EMPTY) {
                    return ticket;
                }
            }
        }
        object.checkOpen();
        return EMPTY;
    }

    /** Consecutive threads have different lists. */
    private int ownList() {
        return (int) Thread.currentThread().getId() & listMask;
    }

    /** Takes a buffer of the own list, or of the first other list that has one. */
    private long take(Section section, int own) {
        for (int i = 0; i <= listMask; i++) {
            int list = own + i & listMask;
            long ticket = takeReserved(reserved(section, list));
            if (ticket == EMPTY) {
                ticket = takeListed(head(section.firstList + list));
            }
            if (ticket != EMPTY) {
                return ticket;
            }
        }
        return EMPTY;
    }

    private long takeReserved(int index) {
        long free = states.get(state(index));
        long ticket = free & ~FREE;
        return isFree(free) && states.compareAndSet(state(index), free, ticket) ? ticket : EMPTY;
    }

    /** Whether a reserved buffer with this state is free, and not removed. */
    private static boolean isFree(long state) {
        return state < 0 && (state & INDEX) != 0;
    }

    private long takeListed(int position) {
        int index = remove(position);
        if (index == 0) {
            return EMPTY;
        }
        long ticket = states.getPlain(state(index)) & ~FREE & ~INDEX | index;
        states.setRelease(state(index), ticket);
        return ticket;
    }

    /** Removes the first buffer of a list. Returns its index or 0. */
    private int remove(int position) {
        while (true) {
            long head = heads.get(position);
            int index = (int) (head & INDEX);
            if (index == 0) {
                return 0;
            }
            // another thread may have taken the buffer, and changed its state: the head has changed too
            long next = states.get(state(index)) & INDEX;
            if (heads.compareAndSet(position, head, next(head, next))) {
                return index;
            }
        }
    }

    private static long next(long head, long index) {
        return (head & ~INDEX) + CHANGE | index;
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
        int index = index(ticket);
        long next = FREE | ticket + GENERATION;
        if ((ticket & RESERVED) != 0) {
            replace(index, ticket, next);
            return;
        }
        int position = head(section(index).firstList + ownList());
        long head = heads.get(position);
        long free = next & ~INDEX;
        replace(index, ticket, free | head & INDEX);
        add(position, head, index, free);
    }

    private void replace(int index, long ticket, long free) {
        if (!states.compareAndSet(state(index), ticket, free)) {
            throw invalid(ticket);
        }
    }

    /** Adds a free buffer to a list. Its state has the index of the first buffer of the list. */
    private void add(int position, long first, int index, long free) {
        long head = first;
        while (!heads.compareAndSet(position, head, next(head, index))) {
            head = heads.get(position);
            states.setRelease(state(index), free | head & INDEX);
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
        int index = index(ticket);
        if (states.get(state(index)) != ticket) {
            throw invalid(ticket);
        }
        return index;
    }

    private int index(long ticket) {
        int index = (int) (ticket & INDEX);
        if (ticket <= 0 || index == 0 || index > size) {
            throw invalid(ticket);
        }
        return index;
    }

    private IllegalStateException invalid(long ticket) {
        object.checkOpen();
        return new IllegalStateException("0x" + Long.toHexString(ticket) + " is no ticket of a taken buffer of "
                + object + ": the buffer was given back, or the ticket is not from this pool");
    }

    /** {@return the memory of the buffers} */
    public RpmaMemory memory() {
        return memory;
    }

    /** {@return the number of buffers, free and taken} */
    public int size() {
        return size;
    }

    /**
     * {@return the number of free buffers; an approximation while other threads take buffers or give them back}
     *
     * <p>Reads the state of each buffer.
     */
    public int available() {
        int free = 0;
        for (int index = 1; index <= size; index++) {
            if (states.get(state(index)) < 0) {
                free++;
            }
        }
        return free;
    }

    /**
     * Closes the pool. Has no effect if it is already closed. The memory stays open. It stays mapped while the pool or
     * a view of a buffer is reachable, also after {@link RpmaMemory#close()}.
     *
     * <p>If this method fails because another thread takes a buffer meanwhile, further threads that try to take a
     * buffer during the call can find the pool empty.
     *
     * @throws IllegalStateException if buffers are taken; the message has their number, and nothing is closed
     */
    @Override
    public void close() {
        synchronized (states) {
            if (object.isClosed()) {
                return;
            }
            // first without a change: a close while buffers are taken does not disturb the other threads
            checkTaken(size - available());
            removeAll();
            // under the lock, because another thread would count the buffers as taken; a pool has no actions before its
            // close
            object.close();
        }
    }

    private void checkTaken(int taken) {
        if (taken > 0) {
            throw new IllegalStateException(
                    object + " can't be closed before " + taken + " of its " + size + " buffers are given back");
        }
    }

    /** Removes all buffers, so that no thread can take one. If one is missing, adds the others again, and fails. */
    private void removeAll() {
        int[] removed = new int[size];
        int count = 0;
        for (Section section : sections) {
            for (int list = 0; list <= listMask; list++) {
                int index = removeReserved(reserved(section, list));
                if (index != 0) {
                    removed[count++] = index;
                }
                int position = head(section.firstList + list);
                for (index = remove(position); index != 0; index = remove(position)) {
                    removed[count++] = index;
                }
            }
        }
        if (count < size) {
            for (int i = 0; i < count; i++) {
                addAgain(removed[i]);
            }
            checkTaken(size - count);
        }
    }

    /** Removes a reserved buffer if it is free. Returns its index or 0. */
    private int removeReserved(int index) {
        long free = states.get(state(index));
        return isFree(free) && states.compareAndSet(state(index), free, free & ~INDEX) ? index : 0;
    }

    private void addAgain(int index) {
        long free = states.get(state(index)) & ~INDEX;
        if ((free & RESERVED) != 0) {
            states.setRelease(state(index), free | index);
            return;
        }
        int position = head(section(index).firstList);
        long head = heads.get(position);
        states.setRelease(state(index), free | head & INDEX);
        add(position, head, index, free);
    }

    @Override
    public String toString() {
        return object + "[" + size + " buffers]";
    }
}
