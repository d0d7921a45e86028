package io.rpma.examples.common;

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
 * The other side's memory, through one connection that lasts until it breaks.
 *
 * <p>Of a write and the flush behind it only the flush asks for a completion. A failure of either brings one. Where the other
 * side has to be asked to make bytes persistent, its answer takes the place of the completion. Both come in the order of the
 * posts, so tickets are counted up, and the last one that is done stands for all before it.
 */
public final class RemoteMemory implements RemoteStore, AutoCloseable {
    /** How long nothing may complete until the events are looked at. */
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
    private long posted;
    private long done;
    private boolean lost;

    /** The last ticket of a read: a read may be done before earlier requests are, and the other way round. */
    private long lastRead;

    /** When something was last known to go on. */
    private long alive = System.nanoTime();

    /**
     * Takes over a connection.
     *
     * @param staging the region of the staging memory
     * @param silence how long nothing may complete until the other side counts as gone, in seconds
     */
    public RemoteMemory(RemoteConnection connection, RpmaMrLocal staging, int silence) {
        this.connection = connection;
        this.staging = staging;
        this.silence = silence;
        conn = connection.conn();
        remote = connection.memory();
        flushType = connection.persistence().isByFlush() ? RpmaFlushType.PERSISTENT : RpmaFlushType.VISIBILITY;
        requests = connection.requests();
    }

    /** What an atomic write takes for a little-endian number: it stores numbers in the byte order of this side. */
    public static long toAtomicWrite(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }

    /** How written bytes become persistent. */
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

    /** Begins to read bytes into the staging memory; returns the ticket. */
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

    /** The ticket of the last operation that is done. */
    public long done() {
        return done;
    }

    /** Takes what has completed, without waiting. */
    public void poll() throws LostException, InterruptedException {
        try {
            take(conn.getCq().poll(completions));
        } catch (RpmaException e) {
            throw lost(Errors.line(e));
        }
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
