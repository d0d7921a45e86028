// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.CollectedProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Another process drops its objects and collects garbage repeatedly while this process writes to its memory. */
@Tag("soak")
@Tag("processes")
class CollectedMemoryIT {
    private static final int COLLECTIONS =
            Integer.getInteger("rpma.collections", Boolean.getBoolean("rpma.long") ? 200 : 5);
    private static final int SIZE = CollectedProgram.SIZE;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private volatile boolean over;

    static Stream<Arguments> offers() {
        return Stream.of(CollectedProgram.Facade.values())
                .flatMap(facade -> Stream.of(CollectedProgram.Kind.values()).map(kind -> Arguments.of(facade, kind)));
    }

    @ParameterizedTest
    @MethodSource("offers")
    void registeredMemoryStays(CollectedProgram.Facade facade, CollectedProgram.Kind kind) throws Exception {
        String address = TestDevice.address();
        int port = TestDevice.port();
        ExecutorService writer = Executors.newSingleThreadExecutor();
        try (Jvm.Running program = Jvm.likeThis()
                        .start(
                                CollectedProgram.class,
                                facade.name(),
                                kind.name(),
                                address,
                                Integer.toString(port),
                                Integer.toString(COLLECTIONS));
                RpmaPeer peer = TestDevice.peer();
                Regions regions = new Regions(peer, 2 * SIZE)) {
            program.awaitLine(CollectedProgram.LISTENING);
            try (RpmaConn conn = RpmaConnReq.create(peer, address, port, null).connect()) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
                try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(conn.getPrivateData())) {
                    Future<Integer> writes = writer.submit(() -> writeUntilOver(conn, remote, regions));
                    program.awaitLine(CollectedProgram.COLLECTED);
                    over = true;
                    assertTrue(writes.get(Limit.WAIT_S, TimeUnit.SECONDS) > 0, "nothing was written");
                    write(conn, remote, regions, CollectedProgram.LAST);
                }
                goOn(program.process());
                Jvm.Finished end = program.awaitEnd();
                assertEquals(0, end.status(), end.toString());
                assertTrue(end.out().contains(CollectedProgram.INTACT), end.toString());
                for (String dropped : facade.dropped) {
                    assertTrue(
                            Pattern.compile(dropped + "#\\d+ was dropped without close\\(\\)")
                                    .matcher(end.err())
                                    .find(),
                            () -> dropped + " is not reported: " + end);
                }
            }
        } finally {
            over = true;
            writer.shutdownNow();
        }
    }

    private static void goOn(Process process) throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    private int writeUntilOver(RpmaConn conn, RpmaMrRemote remote, Regions regions) throws InterruptedException {
        int writes = 0;
        while (!over) {
            write(conn, remote, regions, (byte) ++writes);
        }
        return writes;
    }

    /** Fills the other side's memory, reads it back and compares. */
    private static void write(RpmaConn conn, RpmaMrRemote remote, Regions regions, byte pattern)
            throws InterruptedException {
        ByteBuffer sent = regions.localMemory.buffer(0, SIZE);
        while (sent.hasRemaining()) {
            sent.put(pattern);
        }
        Pair.assertPosted(conn.write(remote, 0, regions.local, 0, SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 1));
        Pair.assertPosted(conn.read(regions.local, SIZE, remote, 0, SIZE, ALWAYS, 2));
        Pair.assertDone(conn, 2);
        assertEquals(sent.flip(), regions.localMemory.buffer(SIZE, SIZE), "another has written there");
    }
}
