// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaMemoryPool.SizeClass;
import io.rpma.testing.Allocation;
import io.rpma.testing.Limit;
import io.rpma.testing.Together;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool: its arguments, its tickets, and threads that take and give back. */
class RpmaMemoryPoolTest {
    private static final int LENGTH = 100;
    private static final int STRIDE = 128;
    private static final int BUFFERS = 8;

    private static final int THREADS = 2 * Runtime.getRuntime().availableProcessors();

    private static final int MANY = 16;

    /** The distance of the tickets of a buffer. */
    private static final long GENERATION = 1L << 24;

    /** The number of rounds of two threads that wait for each other. */
    private static final int ROUNDS = 100_000;

    /** Each wait can take a time slice on a busy machine, so the time limits the rounds too. */
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

    private final RpmaMemory memory = RpmaMemory.allocate(BUFFERS * STRIDE);

    @AfterEach
    void closeMemory() {
        memory.close();
    }

    private RpmaMemoryPool pool() {
        return RpmaMemoryPool.create(memory, LENGTH);
    }

    private static List<Long> takeAll(RpmaMemoryPool pool) {
        List<Long> tickets = new ArrayList<>();
        for (long ticket = pool.take(); ticket != RpmaMemoryPool.EMPTY; ticket = pool.take()) {
            tickets.add(ticket);
        }
        return tickets;
    }

    private static void giveBackAll(RpmaMemoryPool pool, List<Long> tickets) {
        tickets.forEach(pool::giveBack);
    }

    private static void assertInvalid(RpmaMemoryPool pool, long ticket) {
        int available = pool.available();
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                () -> pool.giveBack(ticket),
                () -> pool.buffer(ticket),
                () -> pool.offset(ticket),
                () -> pool.length(ticket))) {
            assertThatIllegalStateException()
                    .isThrownBy(use)
                    .withMessage("0x" + Long.toHexString(ticket) + " is no ticket of a taken buffer of " + name(pool)
                            + ": the buffer was given back, or the ticket is not from this pool");
        }
        assertThat(pool.available()).isEqualTo(available);
    }

    @Test
    void buffersAreDisjointPartsOfTheMemory() {
        try (RpmaMemoryPool pool = pool()) {
            assertThat(pool.memory()).isSameAs(memory);
            assertThat(pool.size()).isEqualTo(BUFFERS);
            List<Long> tickets = takeAll(pool);
            assertThat(tickets).hasSize(BUFFERS).doesNotHaveDuplicates().allMatch(ticket -> ticket > 0);
            assertThat(tickets.stream().map(pool::offset))
                    .containsExactlyInAnyOrder(0L, 128L, 256L, 384L, 512L, 640L, 768L, 896L);
            for (long ticket : tickets) {
                assertThat(pool.length(ticket)).isEqualTo(LENGTH);
                ByteBuffer buffer = pool.buffer(ticket);
                assertThat(buffer.capacity()).isEqualTo(LENGTH);
                assertThat(buffer.isDirect()).isTrue();
                while (buffer.hasRemaining()) {
                    buffer.put((byte) ticket);
                }
            }
            for (long ticket : tickets) {
                byte[] bytes = new byte[LENGTH];
                memory.buffer(pool.offset(ticket), LENGTH).get(bytes);
                assertThat(bytes).containsOnly((byte) ticket);
            }
            giveBackAll(pool, tickets);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 1",
        "64, 64, 1",
        "64, 63, 1",
        "65, 65, 1",
        "128, 65, 1",
        "192, 65, 1",
        "193, 65, 2",
        "4096, 64, 64",
        "4096, 1, 64"
    })
    void asManyBuffersAsFit(long size, int length, int count) {
        try (RpmaMemory other = RpmaMemory.allocate(size);
                RpmaMemoryPool pool = RpmaMemoryPool.create(other, length)) {
            assertThat(pool.size()).isEqualTo(count);
            List<Long> tickets = takeAll(pool);
            assertThat(tickets).hasSize(count).allSatisfy(ticket -> {
                assertThat(pool.offset(ticket) % RpmaMemoryPool.ALIGNMENT).isZero();
                assertThat(pool.offset(ticket) + length).isLessThanOrEqualTo(size);
                assertThat(pool.buffer(ticket).capacity()).isEqualTo(length);
            });
            giveBackAll(pool, tickets);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void lengthsArePositive(int length) {
        for (ThrowingCallable creation : List.<ThrowingCallable>of(
                () -> RpmaMemoryPool.create(memory, length), () -> new SizeClass(length, 1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(creation)
                    .withMessage("a buffer has at least 1 byte, not " + length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, 1 << 24, Integer.MAX_VALUE})
    void countsAreInRange(int count) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SizeClass(1, count))
                .withMessage("a pool has 1 to 16777215 buffers, not " + count);
    }

    @ParameterizedTest
    @ValueSource(ints = {BUFFERS * STRIDE + 1, Integer.MAX_VALUE})
    void aBufferFits(int length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory, length))
                .withMessage(
                        "a pool has 1 to 16777215 buffers, but the 1024 bytes of the memory have room for 0 buffers of "
                                + length + " bytes");
    }

    @Test
    void aPoolHasALimitedNumberOfBuffers() {
        try (RpmaMemory large = RpmaMemory.allocate(1L << 30)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RpmaMemoryPool.create(large, 8))
                    .withMessageContaining("room for 16777216 buffers of 8 bytes");
        }
        SizeClass most = new SizeClass(1, RpmaMemoryPool.MAX_BUFFERS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory, most, new SizeClass(2, 1)))
                .withMessageStartingWith("a pool has at most 16777215 buffers: [SizeClass[length=1, count=16777215], ");
    }

    @Test
    void sizeClassesThatDoNotFit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory))
                .withMessage("a pool has 1 to 64 size classes, not 0");
        SizeClass[] tooMany = new SizeClass[65];
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory, tooMany))
                .withMessage("a pool has 1 to 64 size classes, not 65");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory, new SizeClass(1, 1), new SizeClass(1000, 1)))
                .withMessage("the buffers need 1025 bytes, and the memory has 1024: "
                        + "[SizeClass[length=1, count=1], SizeClass[length=1000, count=1]]");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        RpmaMemoryPool.create(memory, new SizeClass(Integer.MAX_VALUE, RpmaMemoryPool.MAX_BUFFERS)))
                .withMessageStartingWith("the buffers need 36028794871480319 bytes");
    }

    @Test
    void nothing() {
        assertThatNullPointerException().isThrownBy(() -> RpmaMemoryPool.create(null, 1));
        assertThatNullPointerException().isThrownBy(() -> RpmaMemoryPool.create(memory, (SizeClass[]) null));
        assertThatNullPointerException().isThrownBy(() -> RpmaMemoryPool.create(memory, new SizeClass(1, 1), null));
        pool().close();
    }

    @Test
    void anEmptyPoolAnswersZero() {
        try (RpmaMemoryPool pool = pool()) {
            List<Long> tickets = takeAll(pool);
            assertThat(pool.available()).isZero();
            assertThat(pool.take()).isEqualTo(RpmaMemoryPool.EMPTY).isZero();
            assertThat(pool.take(LENGTH)).isZero();
            pool.giveBack(tickets.get(3));
            assertThat(pool.available()).isEqualTo(1);
            long again = pool.take();
            assertThat(again).isPositive().isNotIn(tickets);
            assertThat(pool.take()).isZero();
            tickets.set(3, again);
            giveBackAll(pool, tickets);
            assertThat(pool.available()).isEqualTo(BUFFERS);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, LENGTH + 1, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE})
    void sizesAreInRange(long size) {
        try (RpmaMemoryPool pool = pool()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pool.take(size))
                    .withMessage("the buffers of the pool have at most 100 bytes, not " + size);
            assertThat(pool.available()).isEqualTo(BUFFERS);
        }
    }

    @Test
    void theShortestSufficientBufferIsTaken() {
        try (RpmaMemoryPool pool =
                RpmaMemoryPool.create(memory, new SizeClass(256, 1), new SizeClass(64, 2), new SizeClass(512, 1))) {
            assertThat(pool.size()).isEqualTo(4);
            List<Long> tickets = new ArrayList<>();
            for (long size : new long[] {0, 65, 257}) {
                tickets.add(pool.take(size));
            }
            assertThat(tickets.stream().map(pool::length)).containsExactly(64, 256, 512);
            long first = pool.offset(tickets.get(0));
            assertThat(first).isIn(768L, 832L);
            assertThat(pool.offset(tickets.get(1))).isEqualTo(512);
            assertThat(pool.offset(tickets.get(2))).isZero();
            assertThat(pool.take(65)).isZero();
            tickets.add(pool.take());
            assertThat(pool.length(tickets.get(3))).isEqualTo(64);
            assertThat(pool.offset(tickets.get(3))).isEqualTo(768 + 832 - first);
            assertThat(pool.take()).isZero();

            pool.giveBack(tickets.remove(2));
            long longer = pool.take(1);
            assertThat(pool.length(longer)).isEqualTo(512);
            pool.giveBack(longer);
            giveBackAll(pool, tickets);
        }
    }

    @Test
    void buffersOfSizeClassesAreDisjoint() {
        SizeClass[] classes = {new SizeClass(1, 3), new SizeClass(65, 3), new SizeClass(65, 1), new SizeClass(200, 1)};
        try (RpmaMemoryPool pool = RpmaMemoryPool.create(memory, classes)) {
            List<Long> tickets = takeAll(pool);
            assertThat(tickets.stream().map(pool::length)).containsExactlyInAnyOrder(1, 1, 1, 65, 65, 65, 65, 200);
            int used = 0;
            for (int i = 0; i < tickets.size(); i++) {
                ByteBuffer buffer = pool.buffer(tickets.get(i));
                used += buffer.remaining();
                while (buffer.hasRemaining()) {
                    buffer.put((byte) (i + 1));
                }
            }
            int written = 0;
            ByteBuffer whole = memory.buffer();
            while (whole.hasRemaining()) {
                written += whole.get() == 0 ? 0 : 1;
            }
            assertThat(written).isEqualTo(used);
            giveBackAll(pool, tickets);
        }
    }

    @Test
    void viewsAreReset() {
        try (RpmaMemoryPool pool = pool()) {
            List<Long> tickets = takeAll(pool);
            for (long ticket : tickets) {
                pool.buffer(ticket).position(5).limit(10).mark().order(ByteOrder.LITTLE_ENDIAN);
            }
            giveBackAll(pool, tickets);
            tickets = takeAll(pool);
            for (long ticket : tickets) {
                ByteBuffer buffer = pool.buffer(ticket);
                assertThat(buffer.position()).isZero();
                assertThat(buffer.limit()).isEqualTo(LENGTH);
                assertThat(buffer.order()).isSameAs(ByteOrder.BIG_ENDIAN);
                assertThat(pool.buffer(ticket)).isSameAs(buffer);
            }
            giveBackAll(pool, tickets);
        }
    }

    @Test
    void aReadOnlyMemoryHasReadOnlyBuffers(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[4096]);
        try (RpmaMemory readOnly = RpmaMemory.mapReadOnly(file);
                RpmaMemoryPool pool = RpmaMemoryPool.create(readOnly, 4096)) {
            long ticket = pool.take();
            assertThat(pool.buffer(ticket).isReadOnly()).isTrue();
            pool.giveBack(ticket);
        }
    }

    /** No view has more than 2^31 - 1 bytes. */
    @Test
    void aMemoryOfMoreThan4GiB() {
        int length = 3 << 29;
        try (RpmaMemory large = RpmaMemory.allocate(5L << 30);
                RpmaMemoryPool pool = RpmaMemoryPool.create(large, length)) {
            List<Long> tickets = takeAll(pool);
            assertThat(tickets).hasSize(3);
            assertThat(tickets.stream().map(pool::offset)).containsExactlyInAnyOrder(0L, 3L << 29, 3L << 30);
            for (long ticket : tickets) {
                pool.buffer(ticket).putLong(length - 8, ticket);
                assertThat(large.buffer(pool.offset(ticket) + length - 8, 8).getLong())
                        .isEqualTo(ticket);
            }
            giveBackAll(pool, tickets);
        }
        try (RpmaMemory large = RpmaMemory.allocate(Integer.MAX_VALUE);
                RpmaMemoryPool pool = RpmaMemoryPool.create(large, Integer.MAX_VALUE)) {
            assertThat(pool.size()).isEqualTo(1);
            long ticket = pool.take();
            assertThat(pool.length(ticket)).isEqualTo(Integer.MAX_VALUE);
            pool.giveBack(ticket);
        }
    }

    @Test
    void aBufferIsGivenBackOnce() {
        try (RpmaMemoryPool pool = pool()) {
            long ticket = pool.take();
            pool.giveBack(ticket);
            assertInvalid(pool, ticket);
            List<Long> all = takeAll(pool);
            assertThat(all).hasSize(BUFFERS).doesNotContain(ticket);
            assertInvalid(pool, ticket);
            assertThat(pool.take()).isZero();
            giveBackAll(pool, all);
            all.forEach(given -> assertInvalid(pool, given));
        }
    }

    @Test
    void ticketsAreOfOnePool() {
        try (RpmaMemoryPool pool = pool();
                RpmaMemoryPool other = pool()) {
            List<Long> tickets = takeAll(pool);
            List<Long> others = takeAll(other);
            assertThat(others).doesNotContainAnyElementsOf(tickets);
            tickets.forEach(ticket -> assertInvalid(other, ticket));
            others.forEach(ticket -> assertInvalid(pool, ticket));
            giveBackAll(pool, tickets);
            giveBackAll(other, others);
        }
    }

    @Test
    void forgedTickets() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (RpmaMemory own = RpmaMemory.allocate(MANY * STRIDE);
                RpmaMemoryPool pool = RpmaMemoryPool.create(own, LENGTH)) {
            List<Long> tickets = takeAll(pool);
            Collections.shuffle(tickets, random);
            List<Long> taken = tickets.subList(0, MANY / 2);
            List<Long> given = tickets.subList(MANY / 2, MANY);
            giveBackAll(pool, given);
            List<Long> forged =
                    new ArrayList<>(List.of(0L, -1L, 1L, 8L, 9L, GENERATION, Long.MAX_VALUE, Long.MIN_VALUE));
            // half of them are taken
            for (long ticket : tickets.subList((MANY - BUFFERS) / 2, (MANY + BUFFERS) / 2)) {
                forged.add(-ticket);
                // the next tickets of the buffers, and the states of free buffers
                for (int index = 0; index <= MANY + 1; index++) {
                    forged.add((ticket + GENERATION & -GENERATION) + index);
                    forged.add((ticket + GENERATION & -GENERATION) + index | Long.MIN_VALUE);
                }
                for (int bit = 0; bit < 64; bit++) {
                    forged.add(ticket ^ 1L << bit);
                }
            }
            for (int i = 0; i < 10_000; i++) {
                forged.add(random.nextLong());
            }
            forged.removeAll(taken);
            assertThat(forged)
                    .as("seed " + seed)
                    .hasSizeGreaterThan(10_000)
                    .allSatisfy(ticket -> assertInvalid(pool, ticket));
            giveBackAll(pool, taken);
        }
    }

    @Test
    void aPoolIsClosedAfterItsBuffersAreGivenBack() {
        RpmaMemoryPool pool = pool();
        List<Long> tickets = takeAll(pool);
        long last = tickets.remove(0);
        giveBackAll(pool, tickets);
        assertThatIllegalStateException()
                .isThrownBy(pool::close)
                .withMessage(name(pool) + " can't be closed before 1 of its 8 buffers are given back");
        assertThat(pool.available()).isEqualTo(BUFFERS - 1);
        assertThatIllegalStateException()
                .isThrownBy(memory::close)
                .withMessageEndingWith(" can't be closed before " + name(pool));
        ByteBuffer view = pool.buffer(last);
        giveBackAll(pool, takeAll(pool));
        pool.giveBack(last);
        pool.close();
        pool.close();
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                pool::take,
                () -> pool.take(1),
                () -> pool.giveBack(last),
                () -> pool.buffer(last),
                () -> pool.offset(last),
                () -> pool.length(last))) {
            assertThatIllegalStateException().isThrownBy(use).withMessage(name(pool) + " is closed");
        }
        assertThat(pool.size()).isEqualTo(BUFFERS);
        memory.close();
        view.putLong(0, 1);
        assertThat(view.getLong(0)).isEqualTo(1);
    }

    @Test
    void aClosedMemoryHasNoPool() {
        memory.close();
        assertThatIllegalStateException().isThrownBy(this::pool).withMessageEndingWith(" is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> RpmaMemoryPool.create(memory, new SizeClass(1, 1)))
                .withMessageEndingWith(" is closed");
    }

    @Test
    void describesItself() {
        try (RpmaMemoryPool pool = pool()) {
            assertThat(pool.toString()).matches("RpmaMemoryPool#\\d+\\[RpmaMemory#\\d+, 8 buffers]");
        }
    }

    @Test
    void eachThreadFindsTheBuffersOfTheOthers() throws Exception {
        try (RpmaMemoryPool pool = pool()) {
            List<Long> tickets = takeAll(pool);
            Together.run(BUFFERS, thread -> pool.giveBack(tickets.get(thread)));
            giveBackAll(pool, assertAllTaken(pool));
            for (int thread = 0; thread < THREADS; thread++) {
                Together.run(1, alone -> giveBackAll(pool, assertAllTaken(pool)));
            }
        }
    }

    private static List<Long> assertAllTaken(RpmaMemoryPool pool) {
        List<Long> tickets = takeAll(pool);
        assertThat(tickets).hasSize(BUFFERS).doesNotHaveDuplicates();
        return tickets;
    }

    /** Each taker writes its mark into the buffer, and finds only its mark until it gives the buffer back. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 64, 1000})
    void noBufferHasTwoTakers(int buffers) throws Exception {
        long seed = System.nanoTime();
        try (RpmaMemory own = RpmaMemory.allocate((long) buffers * STRIDE);
                RpmaMemoryPool pool = RpmaMemoryPool.create(own, LENGTH)) {
            Together.run(THREADS + 1, thread -> {
                SplittableRandom random = new SplittableRandom(seed + thread);
                Deque<Long> taken = new ArrayDeque<>();
                for (int i = 0; i < 200_000; i++) {
                    long ticket = random.nextInt(3) == 0 ? RpmaMemoryPool.EMPTY : pool.take();
                    if (ticket != RpmaMemoryPool.EMPTY) {
                        pool.buffer(ticket).putLong(thread).putLong(8, ticket).putLong(92, i);
                        taken.addLast(ticket);
                    } else if (!taken.isEmpty()) {
                        giveBackMarked(pool, random.nextBoolean() ? taken.removeFirst() : taken.removeLast(), thread);
                    }
                }
                taken.forEach(pool::giveBack);
            });
            assertThat(takeAllAndGiveBack(pool)).isEqualTo(buffers);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed, e);
        }
    }

    private static void giveBackMarked(RpmaMemoryPool pool, long ticket, int thread) {
        ByteBuffer buffer = pool.buffer(ticket);
        long marks = buffer.getLong() ^ buffer.getLong(8) ^ thread;
        if (marks != ticket) {
            throw new AssertionError("thread " + thread + " finds the mark of another taker");
        }
        buffer.putLong(0, -1);
        pool.giveBack(ticket);
    }

    private static int takeAllAndGiveBack(RpmaMemoryPool pool) {
        List<Long> tickets = takeAll(pool);
        assertThat(new HashSet<>(tickets.stream().map(pool::offset).toList())).hasSameSizeAs(tickets);
        giveBackAll(pool, tickets);
        return tickets.size();
    }

    /** One thread takes the buffers, another one checks them and gives them back. */
    @Test
    void theBytesOfATakerAreSeenByTheNext() throws Exception {
        BlockingQueue<Long> filled = new ArrayBlockingQueue<>(BUFFERS + 1);
        try (RpmaMemoryPool pool = pool()) {
            Together.run(2, thread -> {
                if (thread == 0) {
                    fill(pool, filled);
                } else {
                    checkAndGiveBack(pool, filled);
                }
            });
        }
    }

    private static void fill(RpmaMemoryPool pool, BlockingQueue<Long> filled) throws InterruptedException {
        long start = System.nanoTime();
        for (long i = 1; i <= ROUNDS && System.nanoTime() - start < LIMIT_NS; i++) {
            long ticket = pool.take();
            while (ticket == RpmaMemoryPool.EMPTY) {
                spin();
                ticket = pool.take();
            }
            long last = pool.buffer(ticket).getLong(8);
            assertThat(pool.buffer(ticket).getLong()).isEqualTo(-last);
            pool.buffer(ticket).putLong(i).putLong(i);
            filled.put(ticket);
        }
        filled.put(RpmaMemoryPool.EMPTY);
    }

    private static void checkAndGiveBack(RpmaMemoryPool pool, BlockingQueue<Long> filled) throws InterruptedException {
        long i = 0;
        for (long ticket = filled.poll(Limit.WAIT_S, TimeUnit.SECONDS);
                ticket != RpmaMemoryPool.EMPTY;
                ticket = filled.poll(Limit.WAIT_S, TimeUnit.SECONDS)) {
            i++;
            assertThat(pool.buffer(ticket).getLong()).isEqualTo(i);
            pool.buffer(ticket).putLong(-i);
            pool.giveBack(ticket);
        }
        assertThat(i).isPositive();
    }

    /** Two threads give the same buffer back at the same time, and then take and give back others: one succeeds. */
    @Test
    void oneOfTwoGivesBack() throws Exception {
        try (RpmaMemory own = RpmaMemory.allocate(MANY * STRIDE);
                RpmaMemoryPool pool = RpmaMemoryPool.create(own, LENGTH)) {
            List<Long> others = takeAll(pool);
            for (int i = 0; i < 2; i++) {
                pool.giveBack(others.remove(0));
            }
            GivenBackTwice rounds = new GivenBackTwice(pool);
            Together.run(2, rounds::run);
            assertThat(rounds.successes)
                    .as("seed " + rounds.seed)
                    .hasPositiveValue()
                    .hasValue(rounds.done.get() / 2);
            assertThat(takeAllAndGiveBack(pool)).isEqualTo(2);
            giveBackAll(pool, others);
        }
    }

    /** Rounds in which two threads give the same buffer back. */
    private static final class GivenBackTwice {
        private static final long NO_MORE = -1;

        private final RpmaMemoryPool pool;
        private final long seed = System.nanoTime();
        private final AtomicLong offered = new AtomicLong();
        private final AtomicInteger successes = new AtomicInteger();
        private final AtomicInteger done = new AtomicInteger();

        GivenBackTwice(RpmaMemoryPool pool) {
            this.pool = pool;
        }

        void run(int thread) throws InterruptedException {
            SplittableRandom random = new SplittableRandom(seed + thread);
            long start = System.nanoTime();
            long ticket = RpmaMemoryPool.EMPTY;
            for (int round = 1; ; round++) {
                if (thread == 0) {
                    boolean more = round <= ROUNDS && System.nanoTime() - start < LIMIT_NS;
                    offered.set(more ? pool.take() : NO_MORE);
                }
                ticket = awaitOther(offered, ticket);
                if (ticket == NO_MORE) {
                    return;
                }
                for (int delay = random.nextInt(100); delay > 0; delay--) {
                    Thread.onSpinWait();
                }
                giveBackCounted(pool, ticket, successes);
                takeAndGiveBack();
                done.incrementAndGet();
                while (done.get() < 2 * round) {
                    spin();
                }
            }
        }

        private void takeAndGiveBack() {
            long ticket = pool.take();
            if (ticket != RpmaMemoryPool.EMPTY) {
                pool.giveBack(ticket);
            }
        }
    }

    /** Ends with the test if the other thread fails. */
    private static void spin() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Thread.onSpinWait();
    }

    private static long awaitOther(AtomicLong offered, long former) throws InterruptedException {
        long ticket = offered.get();
        while (ticket == former) {
            spin();
            ticket = offered.get();
        }
        return ticket;
    }

    private static void giveBackCounted(RpmaMemoryPool pool, long ticket, AtomicInteger successes) {
        try {
            pool.giveBack(ticket);
            successes.incrementAndGet();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("is no ticket of a taken buffer");
        }
    }

    /** A close either finds all buffers, or changes nothing. */
    @ParameterizedTest
    @ValueSource(ints = {1, BUFFERS, 1000})
    void aCloseMeetsTakers(int buffers) throws Exception {
        try (RpmaMemory own = RpmaMemory.allocate((long) buffers * STRIDE)) {
            aCloseMeetsTakers(own, buffers);
        }
    }

    private static void aCloseMeetsTakers(RpmaMemory own, int buffers) throws Exception {
        for (int round = 0; round < 100; round++) {
            RpmaMemoryPool pool = RpmaMemoryPool.create(own, LENGTH);
            Together.run(THREADS, thread -> {
                if (thread == 0) {
                    boolean closed = false;
                    while (!closed) {
                        spin();
                        closed = closes(pool);
                    }
                } else {
                    takeUntilClosed(pool);
                }
            });
            assertThat(pool.available()).isZero();
        }
    }

    private static boolean closes(RpmaMemoryPool pool) {
        try {
            pool.close();
            return true;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining(" can't be closed before ");
            return false;
        }
    }

    private static void takeUntilClosed(RpmaMemoryPool pool) throws InterruptedException {
        try {
            while (true) {
                long ticket = pool.take();
                if (ticket != RpmaMemoryPool.EMPTY) {
                    pool.giveBack(ticket);
                }
                spin();
            }
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage(name(pool) + " is closed");
        }
    }

    @Test
    void allocatesNothing() {
        try (RpmaMemoryPool pool =
                RpmaMemoryPool.create(memory, new SizeClass(64, 2), new SizeClass(128, 1), new SizeClass(256, 1))) {
            long[] tickets = new long[4];
            Allocation.assertNone(() -> {
                for (int i = 0; i < tickets.length; i++) {
                    tickets[i] = pool.take(60 * i);
                    pool.buffer(tickets[i]).putLong(pool.offset(tickets[i]) + pool.length(tickets[i]));
                }
                if (pool.take() != RpmaMemoryPool.EMPTY || pool.available() != 0) {
                    throw new AssertionError("not empty");
                }
                for (long ticket : tickets) {
                    pool.giveBack(ticket);
                }
            });
        }
    }
}
