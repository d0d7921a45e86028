package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Offers memory to one client after the other.
 *
 * <p>The connection to a client is closed before the next one is accepted, so operations of the former can't be carried out
 * any more.
 */
public final class MemoryServer implements AutoCloseable {
    /** How long a client may take to establish its connection: it is accepted already. */
    private static final long ESTABLISH_S = 30;

    /** How long a client may be silent until it is asked whether it is there; after as long again the next one is served. */
    private static final int SILENCE_S = 10;

    /** How long clients may fail one after the other until the failure is this side's. */
    private static final int PATIENCE_S = 60;

    /** Where requests come from. */
    interface Requests<T> {
        /** Waits for one. */
        T next() throws InterruptedException;
    }

    private final RpmaEp endpoint;
    private final RpmaConnCfg cfg;
    private final OfferedMemory offered;
    private final int service;
    private final Consumer<String> notes;

    /**
     * Listens.
     *
     * @param offered the memory
     * @param service the mark of this program
     * @param notes is told who comes and goes
     */
    public MemoryServer(
            RpmaPeer peer, OfferedMemory offered, String address, int port, int service, Consumer<String> notes) {
        this.offered = offered;
        this.service = service;
        this.notes = notes;
        endpoint = RpmaEp.listen(peer, address, port);
        cfg = OfferedMemory.connCfg();
        notes.accept("listening on " + address + ":" + port);
    }

    /**
     * Waits for the next client, and until it is gone.
     *
     * @throws IOException if again and again none can be accepted
     */
    public void serve() throws IOException, InterruptedException {
        RpmaConnReq request = awaitNext(() -> endpoint.nextConnReq(cfg), PATIENCE_S, notes);
        try (RpmaConn conn = offered.accept(request, service)) {
            Optional<RpmaConnEvent> event = conn.nextEvent(ESTABLISH_S, SECONDS);
            if (event.filter(RpmaConnEvent.ESTABLISHED::equals).isEmpty()) {
                notes.accept("a client has not come to stay: "
                        + event.map(RpmaConnEvent::description).orElse("no answer"));
                return;
            }
            notes.accept("a client has connected");
            notes.accept("the client is gone: "
                    + offered.serve(conn, SILENCE_S, Long.MAX_VALUE).orElseThrow());
            // Closing the connection answers its disconnect.
        } catch (RpmaException e) {
            // Of a client that vanishes while it is being asked. There will be others.
            notes.accept("a client is lost: " + Errors.line(e));
        }
    }

    /**
     * Waits for the next request. A client that gives up before it is accepted makes this fail: there will be others. An
     * endpoint that is broken fails at once, each time.
     */
    static <T> T awaitNext(Requests<T> requests, int patience, Consumer<String> notes)
            throws IOException, InterruptedException {
        BackOff backOff = new BackOff(patience);
        while (true) {
            long begun = System.nanoTime();
            try {
                return requests.next();
            } catch (RpmaException e) {
                notes.accept("a client is lost: " + Errors.line(e));
                if (System.nanoTime() - begun > BackOff.LONGEST) {
                    backOff.succeeded(); // in waiting
                }
                OptionalLong pause = backOff.next(System.nanoTime());
                if (pause.isEmpty()) {
                    throw new IOException(
                            "no client could be accepted within " + patience + " s: " + Errors.line(e), e);
                }
                NANOSECONDS.sleep(pause.getAsLong());
            }
        }
    }

    /** Stops listening. */
    @Override
    public void close() {
        endpoint.close();
        cfg.close();
    }
}
