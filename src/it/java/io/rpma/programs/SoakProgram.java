// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaBatch;
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEp;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcStatus;
import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The process of {@code SoakIT}: several threads connect, use each kind of operation on both sides, and disconnect,
 * with both packages in turn. Between the intervals there is no connection; then the program checks that the same
 * objects are open as after the first interval and that the same number of threads runs as after the first connections,
 * and writes a sample of the resources of the process. At the end it checks that the resident memory has not grown.
 */
public final class SoakProgram {
    public static final int THREADS = 8;
    /** The number of work requests of a connection, on both sides together. */
    private static final int OPERATIONS = 100;

    private static final String HEADER =
            "seconds,connections,operations,resident KiB,direct KiB,descriptors,native objects,threads";

    private static final int FEWEST_INTERVALS = 20;
    private static final int LARGEST_INTERVAL = 800;
    /** Each thread uses both packages in each interval. */
    private static final int FEWEST_CONNECTIONS = 2 * THREADS * FEWEST_INTERVALS;

    /**
     * The growth that the JVM and malloc may cause in half of a run, in KiB. In a short run the JVM still compiles code
     * then. In a run of 100,000 connections, a leak of 170 bytes with each connection exceeds this bound.
     */
    private static final long MOST_GROWTH = 8 << 10;

    /** The batches and the buffers of file operations. The completions of one interval have ten times as many bytes. */
    private static final int MOST_DIRECT = 1 << 16;

    private static final int LAPS = 5;
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int SIGNALED = RdmaQp.F_SIGNALED;
    /** The first bytes of each memory belong to the writes, and these to the other operations. */
    private static final int OTHER = 1024;

    private final List<Worker> workers = new ArrayList<>();
    private final long start = System.nanoTime();
    private final PrintStream samples;
    /** The resident memory of each sample, in KiB. */
    private final List<Long> resident = new ArrayList<>();

    private int connections;

    private SoakProgram(PrintStream samples) throws IOException {
        this.samples = samples;
        samples.println("# " + Runtime.getRuntime().availableProcessors() + " processors, Linux "
                + System.getProperty("os.version") + ", JDK " + Runtime.version() + ", " + LocalDate.now());
        samples.println(HEADER);
    }

    /**
     * @param arguments the number of connections, at least 320, and the file of the samples
     */
    public static void main(String[] arguments) throws Exception {
        int connections = Integer.parseInt(arguments[0]);
        if (connections < FEWEST_CONNECTIONS) {
            throw new IllegalArgumentException("fewer than " + FEWEST_CONNECTIONS + " connections: " + connections);
        }
        int intervals = Math.max(FEWEST_INTERVALS, connections / LARGEST_INTERVAL);
        int rounds = connections / intervals / THREADS;
        try (PrintStream samples = new PrintStream(arguments[1], StandardCharsets.UTF_8);
                RpmaPeer peer = TestDevice.peer();
                RpmaConnCfg cfg =
                        RpmaConnCfg.create().setSqSize(32).setRqSize(32).setCqSize(64)) {
            new SoakProgram(samples).run(peer, cfg, rounds, intervals);
        }
    }

    private void run(RpmaPeer peer, RpmaConnCfg cfg, int rounds, int intervals) throws Exception {
        try {
            for (int i = 0; i < THREADS; i++) {
                workers.add(new Worker(peer, cfg));
            }
            // The first connections may start threads that stay. No thread ends meanwhile, so that the number is exact.
            workers.get(0).run(2);
            long threads = threads();
            interval(rounds, threads);
            OpenResources before = OpenResources.now();
            Eventually.becomeByGc("few direct buffers", () -> directBytes() < MOST_DIRECT);
            sample();
            for (int i = 1; i < intervals; i++) {
                interval(rounds, threads);
                before.assertSameNow(THREADS);
                Eventually.becomeByGc("few direct buffers", () -> directBytes() < MOST_DIRECT);
                sample();
            }
            checkGrowth();
        } finally {
            workers.forEach(Worker::close);
        }
    }

    /** Runs an interval in new threads, so that their ends are part of the run. */
    private void interval(int rounds, long threads) throws Exception {
        Together.run(THREADS, thread -> workers.get(thread).run(rounds));
        connections += rounds * THREADS;
        Eventually.become("as many threads as before", () -> threads() == threads);
    }

    private void sample() throws IOException {
        long residentKiB = number("/proc/self/smaps_rollup", "Rss:");
        resident.add(residentKiB);
        samples.printf(
                "%d,%d,%d,%d,%d,%d,%d,%d%n",
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start),
                connections,
                (long) connections * OPERATIONS,
                residentKiB,
                directBytes() >> 10,
                descriptors(),
                Natives.handleCount(),
                threads());
        samples.flush();
    }

    /** Compares the medians of the second and the last quarter of the samples. The first quarter warms up. */
    private void checkGrowth() {
        int quarter = resident.size() / 4;
        long growth = median(resident.subList(resident.size() - quarter, resident.size()))
                - median(resident.subList(quarter, 2 * quarter));
        System.out.println("resident memory after " + connections + " connections: " + growth + " KiB more");
        assertTrue(growth < MOST_GROWTH, growth + " KiB of resident memory leak");
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long threads() {
        return number("/proc/self/status", "Threads:");
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.count();
        }
    }

    private static long number(String file, String name) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The listeners and the batches of one thread. */
    private static final class Worker {
        private final RpmaPeer peer;
        private final RpmaConnCfg cfg;
        private final int port = TestDevice.port();
        private final RpmaEp ep;
        private final RdmaId listener = RdmaPair.listen(0);
        private final int listenerPort = listener.localAddr().orElseThrow().getPort();
        private final RpmaBatch batch = RpmaBatch.create(16);
        private final RdmaBatch rdmaBatch = RdmaBatch.create(16);
        private final RdmaInlineData inline = RdmaInlineData.create(Long.BYTES);
        /** Its first use starts the thread that unmaps memory. */
        private final RpmaMemory memory = RpmaMemory.allocate(SIZE);

        private long word;

        Worker(RpmaPeer peer, RpmaConnCfg cfg) {
            this.peer = peer;
            this.cfg = cfg;
            ep = RpmaEp.listen(peer, TestDevice.address(), port);
            memory.buffer();
        }

        void close() {
            ep.close();
            listener.close();
            memory.close();
        }

        void run(int rounds) throws InterruptedException {
            for (int i = 0; i < rounds; i++) {
                if (i % 2 == 0) {
                    rpma();
                } else {
                    rdmacm();
                }
            }
        }

        private void rpma() throws InterruptedException {
            RpmaCompletions completions = RpmaCompletions.create(16);
            try (Regions regions = new Regions(peer, SIZE);
                    RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, cfg)
                            .connect();
                    RpmaConn server = ep.nextConnReq(cfg, Limit.WAIT_S, TimeUnit.SECONDS)
                            .orElseThrow()
                            .connect()) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                for (int lap = 0; lap < LAPS; lap++) {
                    RdmaPair.putLong(regions.localMemory, 0, ++word);
                    operations(client, server, regions);
                    take(client.getCq(), completions, 7);
                    take(server.getCq(), completions, 3);
                    assertEquals(word, RdmaPair.getLong(regions.remoteMemory, 0));
                    batch(client, regions);
                    take(client.getCq(), completions, 10);
                    assertEquals(word, RdmaPair.getLong(regions.localMemory, OTHER));
                }
                client.disconnect();
                Pair.assertEvent(RpmaConnEvent.CLOSED, server);
                server.disconnect();
                Pair.assertEvent(RpmaConnEvent.CLOSED, client);
            }
        }

        /** Posts 7 operations of the client, and the 3 receives of the server that they use. */
        private static void operations(RpmaConn client, RpmaConn server, Regions regions) {
            for (int i = 0; i < 3; i++) {
                assertPosted(server.recv(regions.target, OTHER, 8, i));
            }
            assertPosted(client.write(regions.remote, 0, regions.local, 0, 8, ALWAYS, 1));
            assertPosted(client.flush(regions.remote, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 2));
            assertPosted(client.atomicWrite(regions.remote, OTHER, 3, ALWAYS, 3));
            assertPosted(client.read(regions.local, OTHER, regions.remote, OTHER, 8, ALWAYS, 4));
            assertPosted(client.send(regions.local, 0, 8, ALWAYS, 5));
            assertPosted(client.sendWithImm(regions.local, 0, 8, ALWAYS, 6, 6));
            assertPosted(client.writeWithImm(regions.remote, OTHER, regions.local, 0, 8, ALWAYS, 7, 7));
        }

        /** Posts 10 operations at once. */
        private void batch(RpmaConn client, Regions regions) {
            for (int i = 0; i < 8; i++) {
                assertPosted(batch.write(client, regions.remote, OTHER, regions.local, 0, 8, ALWAYS, i));
            }
            assertPosted(batch.flush(client, regions.remote, OTHER, 8, RpmaFlushType.VISIBILITY, ALWAYS, 8));
            assertPosted(batch.read(client, regions.local, OTHER, regions.remote, OTHER, 8, ALWAYS, 9));
            assertEquals(10, batch.post());
        }

        private static void take(RpmaCq cq, RpmaCompletions completions, int count) throws InterruptedException {
            for (int taken = 0; taken < count; ) {
                taken += check(completions, cq.await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            }
        }

        private static int check(RpmaCompletions completions, int count) {
            assertPosted(count > 0);
            for (int i = 0; i < count; i++) {
                assertSame(RpmaWcStatus.SUCCESS, completions.status(i));
            }
            return count;
        }

        private void rdmacm() throws InterruptedException {
            RpmaCompletions completions = RpmaCompletions.create(16);
            try (RdmaId client = RdmaPair.connecting(listenerPort);
                    RdmaId server = RdmaPair.request(listener);
                    RpmaMemory localMemory = RpmaMemory.allocate(SIZE);
                    RpmaMemory targetMemory = RpmaMemory.allocate(SIZE);
                    RdmaMr local = RdmaMr.reg(client, localMemory, RdmaAccess.values());
                    RdmaMr target = RdmaMr.reg(server, targetMemory, RdmaAccess.values())) {
                server.createQp(RdmaPair.attr());
                RdmaPair.accept(client, server);
                for (int lap = 0; lap < LAPS; lap++) {
                    RdmaPair.putLong(localMemory, 0, ++word);
                    operations(client.qp(), server.qp(), local, target);
                    takeSent(client.qp(), completions, 7);
                    takeReceived(server.qp(), completions, 3);
                    assertEquals(word, RdmaPair.getLong(targetMemory, 0));
                    batch(client.qp(), local, target);
                    takeSent(client.qp(), completions, 10);
                    assertEquals(word, RdmaPair.getLong(localMemory, OTHER));
                }
                client.disconnect();
                RdmaPair.awaitEvent(server, RdmaEventType.DISCONNECTED);
                server.disconnect();
                RdmaPair.awaitEvent(client, RdmaEventType.DISCONNECTED);
            }
        }

        /** Posts 7 operations of the client, and the 3 receives of the server that they use. */
        private void operations(RdmaQp client, RdmaQp server, RdmaMr local, RdmaMr target) {
            for (int i = 0; i < 3; i++) {
                assertPosted(server.postRecv(target, OTHER, 8, i));
            }
            long there = target.address() + OTHER;
            int key = target.rkey();
            assertPosted(client.postWrite(local, 0, 8, SIGNALED, target.address(), key, 1));
            assertPosted(client.postWriteInline(inline, 8, SIGNALED, there, key, 2));
            assertPosted(client.postCompareAndSwap(local, OTHER, SIGNALED, there, key, 0, 1, 3));
            assertPosted(client.postFetchAndAdd(local, OTHER, SIGNALED, there, key, 1, 4));
            assertPosted(client.postSend(local, 0, 8, SIGNALED, 5));
            assertPosted(client.postSendInline(inline, 8, SIGNALED, 6));
            assertPosted(client.postWriteWithImm(local, 0, 8, SIGNALED, there, key, 7, 7));
        }

        /** Posts 10 operations at once. */
        private void batch(RdmaQp client, RdmaMr local, RdmaMr target) {
            long there = target.address() + OTHER;
            int key = target.rkey();
            for (int i = 0; i < 9; i++) {
                assertPosted(rdmaBatch.write(client, local, 0, 8, SIGNALED, there, key, i));
            }
            assertPosted(rdmaBatch.read(client, local, OTHER, 8, SIGNALED, there, key, 9));
            assertEquals(10, rdmaBatch.post());
        }

        private static void takeSent(RdmaQp qp, RpmaCompletions completions, int count) throws InterruptedException {
            for (int taken = 0; taken < count; ) {
                taken += check(completions, qp.getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            }
        }

        private static void takeReceived(RdmaQp qp, RpmaCompletions completions, int count)
                throws InterruptedException {
            for (int taken = 0; taken < count; ) {
                taken += check(completions, qp.getRecvComp(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            }
        }

        private static void assertPosted(boolean posted) {
            Pair.assertPosted(posted);
        }
    }
}
