package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The other side's memory, through one connection that lasts until it breaks.
 *
 * <p>Of a write and the flush behind it only the flush asks for a completion. A failure of either brings one. A connection
 * completes its operations in the order of their posts, so tickets are counted up, and the last one that has completed
 * stands for all before it.
 */
public final class RemoteMemory implements RemoteStore, AutoCloseable {
    /** How long nothing may complete until the events are looked at. */
    private static final long CHECK_MS = 100;

    /** How long nothing may complete until the other side counts as gone: no event tells of a host that has died. */
    private static final long SILENCE_NS = SECONDS.toNanos(10);

    private static final int MOST_COMPLETIONS = 64;

    private final String name;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final RpmaMrLocal staging;
    private final RpmaFlushType flushType;
    private final RpmaCompletions completions = RpmaCompletions.create(MOST_COMPLETIONS);
    private long posted;
    private long done;
    private boolean lost;

    /** When something was last known to go on. */
    private long alive = System.nanoTime();

    private RemoteMemory(
            String name, RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal staging, RpmaFlushType flushType) {
        this.name = name;
        this.conn = conn;
        this.remote = remote;
        this.staging = staging;
        this.flushType = flushType;
    }

    /**
     * Connects, trying once.
     *
     * @param service the mark of the program that is expected there
     * @param staging the region of the staging memory
     * @param operations how many operations have room in the send queue; a store and a commit take two each
     * @param nanos how long to wait for the answer
     * @throws LostException if there is no answer, or a refusal
     * @throws IOException if another program answers
     */
    static RemoteMemory connect(
            RpmaPeer peer, String address, int port, int service, RpmaMrLocal staging, int operations, long nanos)
            throws IOException, InterruptedException {
        String name = address + ":" + port;
        RpmaConn conn = request(peer, address, port, operations);
        awaitEstablished(conn, name, nanos);
        RpmaMrRemote remote = null;
        boolean usable = false;
        try {
            Offer offer = Offer.fromPrivateData(conn.getPrivateData(), service);
            remote = offer.openMemory();
            RpmaFlushType flushType = applyPlatform(conn, offer, remote);
            usable = true;
            return new RemoteMemory(name, conn, remote, staging, flushType);
        } finally {
            if (!usable) {
                close(conn, remote);
            }
        }
    }

    private static RpmaConn request(RpmaPeer peer, String address, int port, int operations) throws LostException {
        // Should the connection break, all operations complete.
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(operations).setCqSize(operations)) {
            return RpmaConnReq.create(peer, address, port, cfg).connect();
        } catch (RpmaException e) {
            throw new LostException(address + ":" + port, Errors.line(e));
        }
    }

    private static void awaitEstablished(RpmaConn conn, String name, long nanos)
            throws LostException, InterruptedException {
        boolean established = false;
        try {
            Optional<RpmaConnEvent> event = conn.nextEvent(nanos, NANOSECONDS);
            established = event.filter(RpmaConnEvent.ESTABLISHED::equals).isPresent();
            if (!established) {
                throw new LostException(
                        name, event.map(RpmaConnEvent::description).orElse("no answer"));
            }
        } catch (RpmaException e) {
            throw new LostException(name, Errors.line(e));
        } finally {
            if (!established) {
                close(conn, null);
            }
        }
    }

    /** Flushes go as deep as the other side's platform and region allow. */
    private static RpmaFlushType applyPlatform(RpmaConn conn, Offer offer, RpmaMrRemote remote) {
        try (RpmaPeerCfg platform = RpmaPeerCfg.fromDescriptor(offer.peerCfg())) {
            conn.applyRemotePeerCfg(platform);
            return platform.getDirectWriteToPmem() && remote.getFlushType().contains(RpmaFlushType.PERSISTENT)
                    ? RpmaFlushType.PERSISTENT
                    : RpmaFlushType.VISIBILITY;
        }
    }

    /** How deep the flushes go. */
    public RpmaFlushType flushType() {
        return flushType;
    }

    @Override
    public long size() {
        return remote.getSize();
    }

    @Override
    public void read(long offset, int into, int length) throws IOException, InterruptedException {
        long ticket = posted + 1;
        post(() -> conn.read(staging, into, remote, offset, length, RpmaConn.F_COMPLETION_ALWAYS, ticket));
        posted = ticket;
        await(ticket);
    }

    @Override
    public long store(long offset, int from, int length) throws IOException, InterruptedException {
        post(() -> conn.write(remote, offset, staging, from, length, RpmaConn.F_COMPLETION_ON_ERROR, posted));
        return flush(offset, length);
    }

    @Override
    public long commit(long offset, long value) throws IOException, InterruptedException {
        long word = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
        post(() -> conn.atomicWrite(remote, offset, word, RpmaConn.F_COMPLETION_ON_ERROR, posted));
        return flush(offset, Long.BYTES);
    }

    private long flush(long offset, long length) throws IOException, InterruptedException {
        long ticket = posted + 1;
        post(() -> conn.flush(remote, offset, length, flushType, RpmaConn.F_COMPLETION_ALWAYS, ticket));
        posted = ticket;
        return ticket;
    }

    /** Posts an operation; while the send queue has no room, completions make it. */
    private void post(BooleanSupplier operation) throws LostException, InterruptedException {
        if (done == posted) {
            alive = System.nanoTime();
        }
        try {
            while (!operation.getAsBoolean()) {
                takeCompletions();
            }
        } catch (RpmaException e) {
            throw lost(Errors.line(e));
        }
    }

    @Override
    public void await(long ticket) throws LostException, InterruptedException {
        while (done < ticket) {
            takeCompletions();
        }
    }

    /**
     * Waits for completions, and looks at the connection's events meanwhile: when the other side is gone, a device may try
     * for minutes to reach it until it lets the operations fail.
     */
    private void takeCompletions() throws LostException, InterruptedException {
        int taken;
        try {
            taken = conn.getCq().await(completions, CHECK_MS, MILLISECONDS);
        } catch (RpmaException e) {
            throw lost(Errors.line(e));
        }
        if (taken == 0) {
            checkConnected();
            checkAlive();
            return;
        }
        alive = System.nanoTime();
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                throw lost(completions.status(i) + " (" + completions.status(i).description() + ")");
            }
            done = completions.wrId(i);
        }
    }

    private void checkAlive() throws LostException {
        if (System.nanoTime() - alive > SILENCE_NS) {
            throw lost("no answer within " + NANOSECONDS.toSeconds(SILENCE_NS) + " s");
        }
    }

    /**
     * Looks whether something has happened to the connection. Once it is established, any event tells of its end.
     *
     * @throws LostException if it has
     */
    public void checkConnected() throws LostException, InterruptedException {
        try {
            Optional<RpmaConnEvent> event = conn.nextEvent(0, SECONDS);
            if (event.isPresent()) {
                throw lost(event.get().description());
            }
        } catch (RpmaException e) {
            throw lost(Errors.line(e));
        }
    }

    private LostException lost(String reason) {
        lost = true;
        return new LostException(this, reason);
    }

    /** Whether the connection is of no use any more. */
    boolean isLost() {
        return lost;
    }

    /** Ends the connection; operations that are not done may be done or not. */
    @Override
    public void close() {
        close(conn, remote);
    }

    private static void close(RpmaConn conn, RpmaMrRemote remote) {
        if (remote != null) {
            remote.close();
        }
        try {
            conn.close();
        } catch (RpmaException e) {
            // It is closed all the same, and there is nothing more to be done with a connection that is lost.
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
