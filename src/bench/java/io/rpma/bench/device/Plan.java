package io.rpma.bench.device;

import io.rpma.bench.Language;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a run measures.
 *
 * @param points of one connection
 * @param starts how often the programs are started for that
 * @param rounds how often each is measured, in each program, before the next start
 * @param millis about how long one measurement takes
 * @param connections to how many connections it grows, ascending
 * @param scaled who grows
 * @param scaleRounds how often
 * @param registered sizes of memory that is registered, in bytes
 * @param regions how many small regions there are at a time
 * @param coldRounds how often memory is registered, and a program started
 */
record Plan(
        List<Point> points,
        int starts,
        int rounds,
        long millis,
        List<Integer> connections,
        List<Language> scaled,
        int scaleRounds,
        List<Long> registered,
        int regions,
        int coldRounds) {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;

    /** The longest an atomic write can be, and what an atomic changes, and the shortest that is measured of the others. */
    private static final long WORD = 8;

    /** Everything; takes about an hour on an emulated machine. */
    static Plan full(boolean persistent) {
        List<Point> points = new ArrayList<>();
        for (int depth : new int[] {1, 16, 64}) {
            for (Completions completions : List.of(Completions.POLL, Completions.WAIT)) {
                for (Operation operation : ofLibrpma()) {
                    for (long size : List.of(WORD, 64L, KIB, 64 * KIB, MIB)) {
                        if (operation != Operation.ATOMIC_WRITE || size == WORD) {
                            points.add(new Point(operation, size, depth, completions));
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
        points.add(new Point(Operation.WRITE, WORD, 1, Completions.BLOCK));
        points.add(new Point(Operation.SEND, WORD, 1, Completions.BLOCK));
        return new Plan(
                possible(points, persistent),
                3,
                3,
                90,
                List.of(1, 10, 100, 1000),
                Language.EVERYWHERE,
                3,
                List.of(MIB, 16 * MIB, 256 * MIB, 1024 * MIB, 2048 * MIB),
                10_000,
                5);
    }

    /** What fits into about three minutes. */
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
        points.add(new Point(Operation.WRITE, WORD, 1, Completions.BLOCK));
        points.add(new Point(Operation.WRITE, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.READ, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.FLUSH_PERSISTENT, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.SEND, KIB, 16, Completions.POLL));
        points.add(new Point(Operation.WRITE, KIB, 64, Completions.POLL));
        return new Plan(
                possible(points, persistent),
                1,
                5,
                100,
                List.of(1, 10, 100, 1000),
                List.of(Language.C, Language.JAVA),
                1,
                List.of(MIB, 16 * MIB),
                2000,
                3);
    }

    private static List<Operation> ofLibrpma() {
        return Stream.of(Operation.values())
                .filter(operation -> !operation.isRdmacm())
                .toList();
    }

    /** Those of bytes, of a size that goes inline too; the rest of the way is that of librpma's operations. */
    private static void addRdmacm(List<Point> points, int depth) {
        for (Operation operation : Operation.values()) {
            if (operation.isRdmacm() && operation != Operation.RDMA_FETCH_AND_ADD) {
                points.add(new Point(operation, RdmaConnection.INLINE_SIZE, depth, Completions.POLL));
            }
        }
    }

    private static List<Point> possible(List<Point> points, boolean persistent) {
        return points.stream()
                .filter(point -> persistent || point.operation() != Operation.FLUSH_PERSISTENT)
                .toList();
    }
}
