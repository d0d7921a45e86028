// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.bench.Language;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The measurements of a run.
 *
 * @param points the measurements of one connection
 * @param starts the number of starts of the programs for these measurements
 * @param rounds the number of rounds after each of these starts
 * @param millis the approximate time of one of these measurements, in milliseconds
 * @param connections the numbers of connections that are used in turn or in a loop, ascending
 * @param ids the numbers of librdmacm's ids that are used in a loop
 * @param grown the numbers of connections up to which the opening of connections is measured, ascending
 * @param scaled the programs in which the opening and closing of connections is measured
 * @param scaleRounds the number of rounds of these programs, and of the registrations of small memory regions
 * @param registered the registrations of one memory
 * @param regions the number of small memory regions that are registered at the same time
 * @param coldRounds the number of rounds of the registrations {@code registered}, and of starts of a program
 * @param repetitions the time for repetitions of noisy measurements
 */
record Plan(
        List<Point> points,
        int starts,
        int rounds,
        long millis,
        List<Integer> connections,
        List<Integer> ids,
        List<Integer> grown,
        List<Language> scaled,
        int scaleRounds,
        List<Registration> registered,
        int regions,
        int coldRounds,
        Duration repetitions) {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;

    /** The size of an atomic write and of an atomic, and the smallest measured size of librpma's other operations. */
    private static final long WORD = 8;

    private static final List<Long> SIZES = List.of(WORD, 64L, KIB, 64 * KIB, MIB);

    /**
     * The registration of one memory.
     *
     * @param bytes the size of the memory
     * @param parts the number of parts of the same size, each of which is registered by a thread of its own
     */
    record Registration(long bytes, int parts) {
        String command() {
            return "register " + bytes + " " + parts;
        }

        /** Returns the parameters of the results. Only the registration of one part is in a picture, by its bytes. */
        Map<String, String> params() {
            String size = Long.toString(bytes);
            return parts == 1 ? Map.of("bytes", size) : Map.of("bytes", size, "parts", Integer.toString(parts));
        }
    }

    /** Returns the plan of all measurements, which takes about an hour on an emulated machine. */
    static Plan full(boolean persistent) {
        List<Point> points = new ArrayList<>();
        for (int depth : new int[] {1, 16, 64}) {
            for (Completions completions : List.of(Completions.POLL, Completions.WAIT)) {
                for (Operation operation : ofLibrpma()) {
                    for (long size : SIZES) {
                        if (operation != Operation.ATOMIC_WRITE || size == WORD) {
                            points.add(new Point(operation, size, depth, completions));
                        }
                        // beside the unchained writes, because a target compares them
                        if (operation == Operation.WRITE
                                && completions == Completions.POLL
                                && depth > 1
                                && size <= RdmaConnection.INLINE_SIZE) {
                            points.add(new Point(Operation.RDMA_WRITE_CHAINED, size, depth, completions));
                        }
                    }
                }
            }
            addRdmacm(points, depth);
        }
        for (int depth : new int[] {1, 16}) {
            points.add(new Point(Operation.RDMA_FETCH_AND_ADD, WORD, depth, Completions.POLL));
            points.add(new Point(Operation.RDMA_WRITE, RdmaConnection.INLINE_SIZE, depth, Completions.WAIT));
            points.add(new Point(Operation.RDMA_SEND, RdmaConnection.INLINE_SIZE, depth, Completions.WAIT));
        }
        addSizes(points);
        points.add(new Point(Operation.WRITE, WORD, 1, Completions.BLOCK));
        points.add(new Point(Operation.SEND, WORD, 1, Completions.BLOCK));
        return new Plan(
                possible(points, persistent),
                3,
                3,
                90,
                List.of(1, 10, 100, 1000),
                List.of(1, 100, 1000),
                List.of(1, 10, 100, 1000),
                Language.EVERYWHERE,
                3,
                List.of(
                        new Registration(MIB, 1),
                        new Registration(16 * MIB, 1),
                        new Registration(256 * MIB, 1),
                        new Registration(1024 * MIB, 1),
                        new Registration(1024 * MIB, 2),
                        new Registration(1024 * MIB, 4)),
                10_000,
                5,
                Duration.ofMinutes(20));
    }

    /** Returns the plan of a run of about two minutes. */
    static Plan quick(boolean persistent) {
        List<Point> points = new ArrayList<>();
        for (Operation operation : ofLibrpma()) {
            points.add(new Point(operation, WORD, 1, Completions.POLL));
        }
        addRdmacm(points, 1);
        points.add(new Point(Operation.RDMA_FETCH_AND_ADD, WORD, 1, Completions.POLL));
        points.add(new Point(Operation.RDMA_WRITE, RdmaConnection.INLINE_SIZE, 1, Completions.WAIT));
        points.add(new Point(Operation.WRITE, 64 * KIB, 1, Completions.POLL));
        points.add(new Point(Operation.WRITE, WORD, 1, Completions.WAIT));
        points.add(new Point(Operation.TCP, WORD, 1, Completions.BLOCK));
        points.add(new Point(Operation.WRITE, WORD, 16, Completions.POLL));
        points.add(new Point(Operation.RDMA_WRITE_CHAINED, WORD, 16, Completions.POLL));
        points.add(new Point(Operation.READ, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.FLUSH_PERSISTENT, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.SEND, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.WRITE, 64, 64, Completions.POLL));
        points.add(new Point(Operation.RDMA_WRITE_CHAINED, 64, 64, Completions.POLL));
        return new Plan(
                possible(points, persistent),
                1,
                3,
                100,
                List.of(1, 100),
                List.of(100),
                List.of(1, 100),
                List.of(Language.C, Language.JAVA),
                1,
                List.of(new Registration(MIB, 1), new Registration(16 * MIB, 1)),
                2000,
                3,
                Duration.ofSeconds(10));
    }

    /**
     * Returns this plan without the measurements of other operations than these, or the whole plan if there are none.
     */
    Plan only(List<Operation> operations) {
        List<Point> chosen = points.stream()
                .filter(point -> operations.isEmpty() || operations.contains(point.operation()))
                .toList();
        return new Plan(
                chosen,
                starts,
                rounds,
                millis,
                connections,
                ids,
                grown,
                scaled,
                scaleRounds,
                registered,
                regions,
                coldRounds,
                repetitions);
    }

    private static List<Operation> ofLibrpma() {
        return Stream.of(Operation.values()).filter(Operation::isRpma).toList();
    }

    /**
     * Adds librdmacm's operations, except the atomic and the chained write, with the inline size. Larger sizes take the
     * same path as librpma's operations.
     */
    private static void addRdmacm(List<Point> points, int depth) {
        for (Operation operation : Operation.values()) {
            if (operation.isRdmacm()
                    && operation != Operation.RDMA_FETCH_AND_ADD
                    && operation != Operation.RDMA_WRITE_CHAINED) {
                points.add(new Point(operation, RdmaConnection.INLINE_SIZE, depth, Completions.POLL));
            }
        }
    }

    /** Adds the writes and the messages over TCP of the pictures by size. */
    private static void addSizes(List<Point> points) {
        for (int depth : new int[] {1, 16}) {
            for (long size : SIZES) {
                points.add(new Point(Operation.WRITE, size, depth, Completions.POLL));
                points.add(new Point(Operation.TCP, size, depth, Completions.BLOCK));
            }
        }
    }

    private static List<Point> possible(List<Point> points, boolean persistent) {
        return points.stream()
                .distinct()
                .filter(point -> persistent || point.operation() != Operation.FLUSH_PERSISTENT)
                .toList();
    }
}
