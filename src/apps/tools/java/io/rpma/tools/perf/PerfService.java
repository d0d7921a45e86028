// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPort;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.support.ByteSize;
import io.rpma.support.Connector;
import io.rpma.support.Errors;
import io.rpma.support.Listener;
import io.rpma.support.Offer;
import io.rpma.support.Refusal;
import io.rpma.support.Size;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Serves the clients of {@code perf}. Each connection is one measurement, and has a thread and a region of its own. */
final class PerfService {
    /** The connections of two measurements, because those of the one can end while those of the next begin. */
    private static final int MOST_CLIENTS = 128;

    /** The time that a client waits for the memory of connections that end. */
    private static final int PATIENCE_S = 2;

    private static final int UNIT = 1024;

    private final String address;
    private final int port;
    private final long limit;
    private final RpmaMemory persistent;
    private final boolean directWrite;

    /** The memory that clients can still have, in units. */
    private final Semaphore room;

    /** The largest message of the device. */
    private long mostMessage;

    /**
     * Sets up a server.
     *
     * @param limit the most memory of all clients
     * @param persistent the memory for flushes to persistence, or null
     */
    PerfService(String address, int port, long limit, RpmaMemory persistent, boolean directWrite) {
        this.address = address;
        this.port = port;
        this.limit = limit;
        this.persistent = persistent;
        this.directWrite = directWrite;
        room = new Semaphore((int) Math.min(Integer.MAX_VALUE, limit / UNIT));
    }

    /** Serves until the thread is interrupted. */
    void serve() throws IOException, InterruptedException {
        mostMessage = Listener.device(address).ports().stream()
                .mapToLong(RpmaPort::maxMessage)
                .filter(most -> most > 0)
                .min()
                .orElse(Long.MAX_VALUE);
        try (RpmaConnCfg cfg = connCfg()) {
            Listener listener = new Listener(MOST_CLIENTS);
            // before the listener prints that this side listens
            Optional<RdmaId> endpoint = listenRdma();
            try {
                endpoint.ifPresent(listening -> listener.beside(() -> serveRdma(listener, listening)));
                listener.serve(address, port, cfg, this::accept);
            } finally {
                endpoint.ifPresent(PerfService::close);
            }
        }
    }

    /** Has room for the answers of all messages, and for the probe of a silent client. */
    private static RpmaConnCfg connCfg() {
        int sends = PerfRequest.MOST_DEPTH + 1;
        return RpmaConnCfg.create()
                .setSqSize(sends)
                .setRqSize(PerfRequest.MOST_DEPTH)
                .setCqSize(sends + PerfRequest.MOST_DEPTH);
    }

    /** Listens at the next port, for the clients that use librdmacm. */
    private Optional<RdmaId> listenRdma() {
        RdmaQpInitAttr attr =
                new RdmaQpInitAttr().maxSendWr(PerfRequest.MOST_DEPTH + 1).maxRecvWr(PerfRequest.MOST_DEPTH);
        RdmaId endpoint = null;
        boolean listens = false;
        try (RdmaAddrInfo info = RdmaAddrInfo.passive(address, port + 1, RdmaPortSpace.TCP)) {
            endpoint = RdmaId.createEp(info, attr);
            endpoint.listen(MOST_CLIENTS);
            listens = true;
            return Optional.of(endpoint);
        } catch (RpmaException e) {
            noRdma(e);
            return Optional.empty();
        } finally {
            if (endpoint != null && !listens) {
                close(endpoint);
            }
        }
    }

    private static void noRdma(Exception e) {
        Listener.say("no client can use librdmacm: %s", Errors.line(e));
    }

    private void serveRdma(Listener listener, RdmaId endpoint) throws InterruptedException {
        try {
            while (true) {
                acceptRdma(listener, endpoint);
            }
        } catch (RpmaException | IOException e) {
            noRdma(e);
        }
    }

    private void acceptRdma(Listener listener, RdmaId endpoint) throws IOException, InterruptedException {
        RdmaId id = Listener.awaitNext(endpoint::getRequest);
        boolean accepted = false;
        try {
            accepted = listener.accept(number -> acceptRdma(number, id));
        } finally {
            if (!accepted) {
                close(id);
            }
        }
    }

    /** Closes an endpoint, or an id that is not accepted, which rejects its client. */
    private static void close(RdmaId id) {
        try {
            id.close();
        } catch (RpmaException e) {
            Listener.say("%s", Errors.line(e));
        }
    }

    private Listener.Session acceptRdma(int number, RdmaId id) throws Listener.RefusedException, InterruptedException {
        boolean accepted = false;
        int units = 0;
        try {
            PerfRequest wanted = request(id.request().orElseThrow().privateData(), true);
            try {
                units = admit(wanted);
            } catch (Listener.RefusedException e) {
                id.reject(Refusal.toPrivateData(e.getMessage()));
                throw e;
            }
            int taken = units;
            PerfRdmaSession session = PerfRdmaSession.accept(number, wanted, id, () -> room.release(taken));
            accepted = true;
            Listener.say("%d: %s", number, wanted);
            return session;
        } finally {
            if (!accepted) {
                room.release(units);
            }
        }
    }

    private Listener.Session accept(int number, RpmaPeer peer, RpmaConnReq request)
            throws Listener.RefusedException, InterruptedException {
        PerfRequest wanted = request(request.getPrivateData(), false);
        try {
            PerfSession session = connect(number, peer, request, wanted);
            Listener.say("%d: %s", number, wanted);
            return session;
        } catch (Listener.RefusedException e) {
            Listener.say("rejected: %s", e.getMessage());
            return new Refused(request.connect(Refusal.toPrivateData(e.getMessage())));
        }
    }

    /** The connection that brings a refusal, because librpma rejects a request without private data. */
    private record Refused(RpmaConn conn) implements Listener.Session {
        @Override
        public void serve() throws InterruptedException {
            if (isNext(RpmaConnEvent.ESTABLISHED)) {
                isNext(RpmaConnEvent.CLOSED);
            }
        }

        @Override
        public boolean counts() {
            return false;
        }

        private boolean isNext(RpmaConnEvent event) throws InterruptedException {
            return conn.nextEvent(PATIENCE_S, TimeUnit.SECONDS)
                    .filter(event::equals)
                    .isPresent();
        }

        @Override
        public void close() {
            Connector.close(conn);
        }
    }

    /** Reads a request. Refuses the request of another program. */
    static PerfRequest request(byte[] privateData, boolean rdmacm) throws Listener.RefusedException {
        return PerfRequest.fromPrivateData(privateData)
                .filter(read -> read.operation().isRdmacm() == rdmacm)
                .orElseThrow(Listener.RefusedException::ofAnotherProgram);
    }

    /** Refuses an operation that is larger than the device's messages. */
    static void checkSize(PerfRequest request, long mostMessage) throws Listener.RefusedException {
        if (request.size() > mostMessage) {
            throw new Listener.RefusedException("an operation of " + ByteSize.text(request.size())
                    + ": the largest message of the device is " + ByteSize.text(mostMessage));
        }
    }

    /** Checks the size of a request, takes its memory from the room, and returns its units. */
    private int admit(PerfRequest wanted) throws Listener.RefusedException, InterruptedException {
        checkSize(wanted, mostMessage);
        int units = (int) ((wanted.memory() + UNIT - 1) / UNIT);
        if (!room.tryAcquire(units, PATIENCE_S, TimeUnit.SECONDS)) {
            throw new Listener.RefusedException("no room for " + Size.format(wanted.memory())
                    + ": the memory of all clients is limited to " + Size.format(limit) + " (server --limit)");
        }
        return units;
    }

    private PerfSession connect(int number, RpmaPeer peer, RpmaConnReq request, PerfRequest wanted)
            throws Listener.RefusedException, InterruptedException {
        RpmaMemory memory = null;
        RpmaMrLocal region = null;
        RpmaConn conn = null;
        int units = admit(wanted);
        try {
            memory = RpmaMemory.allocate(wanted.memory());
            region = register(peer, memory, wanted);
            for (int i = 0; wanted.operation().isAnswered() && i < wanted.depth(); i++) {
                PerfSession.receive(request, region, wanted);
            }
            conn = request.connect(Offer.of(peer, region, directWrite).toPrivateData(PerfRequest.SERVICE));
            return new PerfSession(number, wanted, memory, region, conn, () -> room.release(units));
        } finally {
            if (conn == null) {
                if (region != null) {
                    region.close();
                }
                if (memory != null) {
                    memory.close();
                }
                room.release(units);
            }
        }
    }

    /** Registers for visibility instead of persistence if this side has no persistent memory. The offer reports it. */
    private RpmaMrLocal register(RpmaPeer peer, RpmaMemory memory, PerfRequest wanted) {
        if (wanted.operation() != PerfOperation.FLUSH_PERSISTENT) {
            return peer.register(memory, wanted.operation().usages());
        }
        return persistent == null || persistent.size() < wanted.size()
                ? peer.register(memory, RpmaMrUsage.WRITE_DST)
                : peer.register(persistent, 0, wanted.size(), wanted.operation().usages());
    }
}
