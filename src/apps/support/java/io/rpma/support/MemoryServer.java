// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Offers memory to one client after the other.
 *
 * <p>The connection to a client is closed before the next client is accepted. So no operation of the earlier client is
 * carried out while a later client is connected.
 */
public final class MemoryServer implements AutoCloseable {
    /** The timeout for an accepted client to establish its connection. */
    private static final int ESTABLISH_S = 30;

    /** The time without an answer after which a client's host counts as dead. */
    private static final int SILENCE_S = 10;

    /** If no client can be accepted for this time, the failure is attributed to this side. */
    private static final int PATIENCE_S = 60;

    /** A source of requests. */
    public interface Requests<T> {
        /** Waits for the next request. */
        T next() throws InterruptedException;
    }

    private final RpmaEp endpoint;
    private final RpmaConnCfg cfg;
    private final OfferedMemory offered;
    private final int service;
    private final Consumer<String> notes;

    /**
     * Listens at an address and a port.
     *
     * @param offered the memory
     * @param service the identifier of this program
     * @param notes gets a line for each client that connects or ends
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
     * Serves the next client until it is gone.
     *
     * @throws IOException if no client can be accepted for some time
     */
    public void serve() throws IOException, InterruptedException {
        RpmaConnReq request = awaitNext(() -> endpoint.nextConnReq(cfg), PATIENCE_S, notes);
        try (RpmaConn conn = offered.accept(request, service, ESTABLISH_S)) {
            notes.accept("a client has connected");
            notes.accept("the client is gone: "
                    + offered.serve(conn, SILENCE_S, Long.MAX_VALUE).orElseThrow());
            // Closing the connection answers the client's disconnect.
        } catch (RpmaException e) {
            // For example, the client has vanished while it was probed. Other clients can follow.
            notes.accept("a client is lost: " + Errors.line(e));
        }
    }

    /**
     * Waits for the next request. If a client gives up before it is accepted, the wait fails and is repeated. If the
     * endpoint is broken, each wait fails at once, and the repetition ends after {@code patience} seconds.
     */
    public static <T> T awaitNext(Requests<T> requests, int patience, Consumer<String> notes)
            throws IOException, InterruptedException {
        BackOff backOff = new BackOff(patience);
        while (true) {
            long begun = System.nanoTime();
            try {
                return requests.next();
            } catch (RpmaException e) {
                notes.accept("a client is lost: " + Errors.line(e));
                if (System.nanoTime() - begun > BackOff.LONGEST) {
                    backOff.succeeded(); // the endpoint works: the wait has not failed at once
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
