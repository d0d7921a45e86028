// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaWcOpcode;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The memory of the other side, accessed through one connection. After any failure the connection counts as lost.
 *
 * <p>The connection also counts as lost if no operation completes for some time while one is under way. So this side
 * needs no {@link io.rpma.RpmaEventLoop#onPeerLost onPeerLost}: while it has no operation, it waits for nothing of the
 * other side.
 *
 * <p>A write requests a completion only for its failure. The flush after the write always requests a completion. If the
 * other side must be asked to make bytes persistent, its answer replaces the completion of the flush. Tickets are
 * consecutive numbers, and completions and answers arrive in the order of the posts. So if one operation is done, all
 * earlier operations are done too.
 */
public final class RemoteMemory implements RemoteStore, AutoCloseable {
    /** The time without a completion after which the events are checked. */
    private static final long CHECK_MS = 100;

    private static final int MOST_COMPLETIONS = 64;

    private final RemoteConnection connection;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final RpmaMrLocal staging;
    private final RpmaFlushType flushType;
    private final PersistRequests requests;
    private final int silence;
    private final RpmaCompletions completions = RpmaCompletions.create(MOST_COMPLETIONS);

    /** Whether an atomic write can overtake an emulated flush: see {@link RpmaConn#atomicWrite}. */
    private final boolean atomicWriteOvertakes;

    private long posted;
    private long done;
    private boolean lost;

    /** The ticket of the last read. Reads and requests can overtake each other, so this class waits between them. */
    private long lastRead;

    /** The time of the last completion, or of the last post while no operation was under way. */
    private long alive = System.nanoTime();

    /**
     * Takes over a connection.
     *
     * @param staging the region of the staging memory
     * @param silence the time without a completion after which the other side counts as gone, in seconds
     */
    public RemoteMemory(RemoteConnection connection, RpmaMrLocal staging, int silence) {
        this.connection = connection;
        this.staging = staging;
        this.silence = silence;
        conn = connection.conn();
        remote = connection.memory();
        flushType = connection.persistence().isByFlush() ? RpmaFlushType.PERSISTENT : RpmaFlushType.VISIBILITY;
        requests = connection.requests();
        atomicWriteOvertakes = conn.isAtomicWriteNative() && !conn.isFlushNative();
    }

    /** Converts a little-endian number for an atomic write, which stores numbers in the byte order of this side. */
    public static long toAtomicWrite(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }

    /** Returns how written bytes become persistent. */
    public Persistence persistence() {
        return connection.persistence();
    }

    @Override
    public long size() {
        return remote.getSize();
    }

    @Override
    public void read(long offset, int into, int length) throws IOException, InterruptedException {
        await(fetch(offset, into, length));
    }

    /** Begins to read bytes into the staging memory. Returns the ticket. */
    public long fetch(long offset, int into, int length) throws IOException, InterruptedException {
        if (requests != null && lastRead != posted) {
            await(posted);
        }
        long ticket = posted + 1;
        post(() -> conn.read(staging, into, remote, offset, length, RpmaConn.F_COMPLETION_ALWAYS, ticket));
        posted = ticket;
        lastRead = ticket;
        return ticket;
    }

    @Override
    public long store(long offset, int from, int length) throws IOException, InterruptedException {
        post(() -> conn.write(remote, offset, staging, from, length, RpmaConn.F_COMPLETION_ON_ERROR, posted));
        return requests == null
                ? flush(offset, length)
                : ask(new PersistRequest(PersistRequest.Kind.PERSIST, offset, length));
    }

    @Override
    public long commit(long offset, long value) throws IOException, InterruptedException {
        if (requests != null) {
            return ask(new PersistRequest(PersistRequest.Kind.COMMIT, offset, value));
        }
        if (atomicWriteOvertakes) {
            await(posted);
        }
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

    private long ask(PersistRequest request) throws IOException, InterruptedException {
        if (lastRead == posted) {
            await(posted);
        }
        long ticket = posted + 1;
        post(() -> requests.ask(request, ticket));
        posted = ticket;
        return ticket;
    }

    /** Returns the ticket of the last operation that is done. */
    public long done() {
        return done;
    }

    /** Takes the completions that are there, without waiting. */
    public void poll() throws LostException, InterruptedException {
        try {
            take(conn.getCq().poll(completions));
        } catch (RpmaException e) {
            throw lost(Errors.loss(e));
        }
    }

    /** Posts an operation. While the send queue has no room, takes completions. */
    private void post(BooleanSupplier operation) throws LostException, InterruptedException {
        if (done == posted) {
            alive = System.nanoTime();
        }
        try {
            while (!operation.getAsBoolean()) {
                takeCompletions();
            }
        } catch (RpmaException e) {
            throw lost(Errors.loss(e));
        }
    }

    @Override
    public void await(long ticket) throws LostException, InterruptedException {
        while (done < ticket) {
            takeCompletions();
        }
    }

    /**
     * Waits for completions as long as the connection exists: if the other side is gone, a device can retry for minutes
     * before the operations fail.
     */
    private void takeCompletions() throws LostException, InterruptedException {
        int taken;
        try {
            taken = conn.getCq().awaitWhileConnected(completions, CHECK_MS, MILLISECONDS);
        } catch (RpmaException e) {
            throw lost(Errors.loss(e));
        }
        if (taken == 0) {
            checkAlive();
            return;
        }
        take(taken);
    }

    private void take(int taken) throws LostException {
        if (taken > 0) {
            alive = System.nanoTime();
        }
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                throw lost(completions.status(i) + " (" + completions.status(i).description() + ")");
            }
            if (completions.opcode(i) == RpmaWcOpcode.SEND) {
                requests.sent();
                continue;
            }
            if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                requests.answered();
            }
            done = completions.wrId(i);
        }
    }

    private void checkAlive() throws LostException {
        if (System.nanoTime() - alive > SECONDS.toNanos(silence)) {
            throw lost("no answer within " + silence + " s");
        }
    }

    /**
     * Checks the connection for an event. Each event of an established connection reports the connection's end.
     *
     * @throws LostException if there is an event
     */
    public void checkConnected() throws LostException, InterruptedException {
        try {
            Optional<RpmaConnEvent> event = conn.nextEvent(0, SECONDS);
            if (event.isPresent()) {
                throw lost(event.get().description());
            }
        } catch (RpmaException e) {
            throw lost(Errors.loss(e));
        }
    }

    private LostException lost(String reason) {
        lost = true;
        return new LostException(this, reason);
    }

    /** Returns whether the connection is lost. */
    boolean isLost() {
        return lost;
    }

    /** Ends the connection. Operations under way may or may not be carried out. */
    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
