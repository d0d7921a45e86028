// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The positions of both ends, with an array in place of the device. */
class RingTest {
    private static final int LEAST = 4;

    @Test
    void aMessageEndsAtTheEndOfTheRing() {
        Ring ring = new Ring(10, LEAST);
        ring.fill(8);
        ring.free(5);
        assertThat(ring.room()).isEqualTo(2);
        ring.fill(2);
        assertThat(ring.room()).isEqualTo(5);
        assertThat(ring.available()).isEqualTo(5);
        ring.fill(5);
        assertThat(ring.room()).isZero();
        assertThat(ring.offset(ring.filled())).isEqualTo(5);
        ring.free(10);
        assertThat(ring.available()).isEqualTo(5);
    }

    @Test
    void messagesFillTheRingToo() {
        Ring ring = new Ring(100, LEAST);
        for (int i = 0; i < LEAST; i++) {
            assertThat(ring.room()).isEqualTo(100 - 2 * i);
            ring.fill(2);
        }
        assertThat(ring.room()).isZero();
        ring.free(1); // a part of a message frees no message
        assertThat(ring.room()).isZero();
        ring.free(2);
        assertThat(ring.room()).isEqualTo(92);
        assertThat(ring.freedMessages()).isEqualTo(1);
    }

    @Test
    void aReportIsDueForEachQuarter() {
        Ring.Quarter quarter = new Ring.Quarter(new Ring(100, 8));
        assertThat(quarter.isPassed(24, 1)).isFalse();
        assertThat(quarter.isPassed(25, 1)).isTrue();
        assertThat(quarter.isPassed(49, 2)).isFalse();
        assertThat(quarter.isPassed(49, 3)).isTrue();
        assertThat(quarter.isPassed(49, 3)).isFalse();
    }

    @Test
    void halfOfAPositionIsSufficient() {
        long position = 0x1_ffff_fff0L;
        long most = 0x2_0000_0005L;
        assertThat(Ring.between(position, most, 0xffff_fff1)).isEqualTo(position + 1);
        assertThat(Ring.between(position, most, 5)).isEqualTo(most);
    }

    @Test
    void aPositionThatWasNotSentOrWasReportedBeforeIsRefused() {
        long position = 0x1_ffff_fff0L;
        long most = 0x2_0000_0005L;
        for (int lowerHalf : new int[] {6, 0x7fff_ffff, 0x8000_0000, 0xffff_ffef, (int) position}) {
            assertThat(Ring.between(position, most, lowerHalf)).isEqualTo(-1);
        }
    }

    @Test
    void aMessageThatDoesNotFitIsRefused() {
        Ring ring = new Ring(10, LEAST);
        for (int length : new int[] {0, -1, 11, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThat(ring.fill(length)).isFalse();
        }
        for (int i = 0; i < LEAST; i++) {
            assertThat(ring.fill(1)).isTrue();
        }
        assertThat(ring.fill(1)).as("more messages").isFalse();
        assertThat(ring.filled()).isEqualTo(LEAST);
        assertThat(ring.filledMessages()).isEqualTo(LEAST);
    }

    /** Completions, reports and messages arrive late, in random order among each other. */
    @Test
    void theEndsNeverOverrunEachOtherAndNeverWaitForEachOther() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            new Model(LEAST + random.nextInt(60), LEAST + random.nextInt(10), random).run(2000);
        }
    }

    /** The smallest ring of the command line. */
    @Test
    void theQueuesHaveRoomForTheReports() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        Model model = new Model(4096, Link.MESSAGES, new Random(seed));
        assertThat(model.mostReports).isEqualTo(Link.REPORTS - 1);
        model.run(100_000);
    }

    /**
     * A writer and a reader with queues between them. Each byte of the ring has its position in the stream, or is free.
     */
    private static final class Model {
        private static final long FREE = -1;

        private final Random random;
        private final long[] bytes;
        private final Ring writer;
        private final Ring reader;
        private final Ring.Quarter signals;
        private final Ring.Quarter reports;
        private final Queue<Integer> messages = new ArrayDeque<>();
        private final Queue<Long> signalled = new ArrayDeque<>();
        private final Queue<Long> reported = new ArrayDeque<>();
        private final int mostReports;
        private long completed;
        private long released;

        Model(int size, int most, Random random) {
            this.random = random;
            bytes = new long[size];
            Arrays.fill(bytes, FREE);
            writer = new Ring(size, most);
            reader = new Ring(size, most);
            signals = new Ring.Quarter(writer);
            reports = new Ring.Quarter(reader);
            mostReports = size / (size / 4) + most / (most / 4);
        }

        void run(long total) {
            while (reader.freed() < total) {
                int first = random.nextInt(5);
                boolean stepped = false;
                for (int i = 0; i < 5 && !stepped; i++) {
                    stepped = step((first + i) % 5, total);
                }
                assertThat(stepped).as("neither end can go on").isTrue();
            }
        }

        private boolean step(int which, long total) {
            switch (which) {
                case 0:
                    return write((int) Math.min(writer.room(), total - writer.filled()));
                case 1:
                    return receive();
                case 2:
                    return read(reader.available());
                case 3:
                    completed = signalled.isEmpty() ? completed : signalled.peek();
                    return free(signalled.poll() != null);
                default:
                    released = reported.isEmpty() ? released : reported.peek();
                    return free(reported.poll() != null);
            }
        }

        private boolean write(int room) {
            if (room == 0) {
                return false;
            }
            int length = 1 + random.nextInt(room);
            for (long position = writer.filled(); position < writer.filled() + length; position++) {
                assertThat(bytes[writer.offset(position)]).isEqualTo(FREE);
                bytes[writer.offset(position)] = position;
            }
            long end = writer.filled() + length;
            if (signals.isPassed(end, writer.filledMessages() + 1)) {
                signalled.add(end);
            }
            assertThat(writer.fill(length)).isTrue();
            messages.add(length);
            return true;
        }

        private boolean receive() {
            if (messages.isEmpty()) {
                return false;
            }
            assertThat(reader.fill(messages.remove())).isTrue();
            return true;
        }

        private boolean read(int available) {
            if (available == 0) {
                return false;
            }
            int length = 1 + random.nextInt(available);
            for (long position = reader.freed(); position < reader.freed() + length; position++) {
                assertThat(bytes[reader.offset(position)]).isEqualTo(position);
                bytes[reader.offset(position)] = FREE;
            }
            reader.free(reader.freed() + length);
            if (reports.isPassed(reader.freed(), reader.freedMessages())) {
                reported.add(reader.freed());
                assertThat(reported).hasSizeLessThanOrEqualTo(mostReports);
            }
            return true;
        }

        private boolean free(boolean any) {
            writer.free(Math.min(completed, released));
            return any;
        }
    }
}
