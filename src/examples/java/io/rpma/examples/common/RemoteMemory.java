package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
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

    private final RemoteConnection connection;
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

    /**
     * Takes over a connection.
     *
     * @param staging the region of the staging memory
     */
    RemoteMemory(RemoteConnection connection, RpmaMrLocal staging) {
        this.connection = connection;
        this.staging = staging;
        conn = connection.conn();
        remote = connection.memory();
        flushType = connection.flushType();
    }

    /** What an atomic write takes for a little-endian number: it stores numbers in the byte order of this side. */
    public static long toAtomicWrite(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
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
        long word = toAtomicWrite(value);
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
        connection.close();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
