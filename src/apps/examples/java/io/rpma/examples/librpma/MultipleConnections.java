// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Reads the names of up to ten clients at once. Each client has a slot: a thread and a part of the memory. */
final class MultipleConnections {
    /** The size of a name with the NUL character at its end. */
    static final int NAME_SIZE = 32;

    private static final int SLOTS = 10;
    private static final String IDLE_S = "15";

    private final Function<RpmaConn, Events> events;
    private final RpmaMemory memory;
    private final RpmaMrLocal names;
    private final ExecutorService threads = Executors.newFixedThreadPool(SLOTS);
    private final Queue<Integer> freeSlots = new ConcurrentLinkedQueue<>();
    private final long longestIdle;

    private volatile long lastEvent;

    private MultipleConnections(
            Function<RpmaConn, Events> events, RpmaMemory memory, RpmaMrLocal names, long longestIdle) {
        this.events = events;
        this.memory = memory;
        this.names = names;
        this.longestIdle = longestIdle;
        for (int slot = 0; slot < SLOTS; slot++) {
            freeSlots.add(slot);
        }
    }

    /**
     * Serves clients until there is no event for some time.
     *
     * @param args the address and the port to listen on, and this time in seconds (default: 15)
     * @param cfg the configuration of the connections
     * @param events makes the object that waits for the completions of a connection
     */
    static void serve(String[] args, RpmaConnCfg cfg, Function<RpmaConn, Events> events) throws InterruptedException {
        long longestIdle = TimeUnit.SECONDS.toNanos(Common.number(Common.argument(args, 2, IDLE_S)));
        try (RpmaMemory memory = RpmaMemory.allocate(SLOTS * NAME_SIZE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaMrLocal names = peer.register(memory, RpmaMrUsage.READ_DST);
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]))) {
            Common.OUT.println("Today I have got in touch with:");
            new MultipleConnections(events, memory, names, longestIdle).serve(ep, cfg);
        }
        System.err.println("Server timed out.");
    }

    private void serve(RpmaEp ep, RpmaConnCfg cfg) throws InterruptedException {
        lastEvent = System.nanoTime();
        try {
            long idle = 0;
            while (idle < longestIdle) {
                accept(ep, cfg, longestIdle - idle);
                idle = System.nanoTime() - lastEvent;
            }
        } finally {
            // The interrupt disconnects the remaining clients.
            threads.shutdownNow();
            threads.awaitTermination(longestIdle, TimeUnit.NANOSECONDS);
        }
    }

    private void accept(RpmaEp ep, RpmaConnCfg cfg, long timeout) throws InterruptedException {
        Optional<RpmaConnReq> req;
        try {
            req = ep.nextConnReq(cfg, timeout, TimeUnit.NANOSECONDS);
        } catch (RpmaException e) {
            // A client that gives up too early does not affect the others.
            System.err.println(e.getMessage());
            return;
        }
        if (req.isPresent()) {
            lastEvent = System.nanoTime();
            Integer slot = freeSlots.poll();
            if (slot == null) {
                req.get().close();
            } else {
                threads.execute(() -> serve(req.get(), slot));
            }
        }
    }

    private void serve(RpmaConnReq req, int slot) {
        try (req;
                RpmaConn conn = req.connect(Common.STARTING_S, TimeUnit.SECONDS)) {
            lastEvent = System.nanoTime();
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            int offset = slot * NAME_SIZE;
            try (RpmaMrRemote src = data.region(NAME_SIZE)) {
                Common.posted(
                        conn.read(names, offset, src, data.dataOffset(), NAME_SIZE, RpmaConn.F_COMPLETION_ALWAYS, 0));
            }
            Events connEvents = events.apply(conn);
            connEvents.await(RpmaWcOpcode.RDMA_READ);
            lastEvent = System.nanoTime();
            Common.OUT.println("- " + Common.text(memory.buffer(offset, NAME_SIZE)));
            connEvents.disconnect();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            System.err.println("[" + slot + "] " + e.getMessage());
        } finally {
            lastEvent = System.nanoTime();
            freeSlots.add(slot);
        }
    }
}
