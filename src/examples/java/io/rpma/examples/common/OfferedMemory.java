package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * Memory that is offered to one client after the other.
 *
 * <p>The device writes the bytes into the memory. A client whose flushes do not make them persistent asks this program to make
 * them persistent, see {@link Persistence#SERVER}.
 */
public final class OfferedMemory implements AutoCloseable {
    /** The time without a completion after which the events are checked. */
    private static final long CHECK_MS = 100;

    private final RpmaMemory memory;
    private final Offer offer;
    private final RpmaMemory messages;
    private final RpmaMrLocal received;

    /**
     * Offers memory, which the caller still owns.
     *
     * @param region the region of the whole memory
     * @param directWrite whether the operator has stated that the platform makes written bytes persistent
     */
    public OfferedMemory(RpmaPeer peer, RpmaMemory memory, RpmaMrLocal region, boolean directWrite) {
        this(peer, memory, Offer.of(peer, region, directWrite));
    }

    /** Offers memory with a description that may differ from the memory. */
    OfferedMemory(RpmaPeer peer, RpmaMemory memory, Offer offer) {
        this.memory = memory;
        this.offer = offer;
        messages = RpmaMemory.allocate((long) PersistRequest.MOST * PersistRequest.LENGTH);
        boolean registered = false;
        try {
            received = peer.register(messages, RpmaMrUsage.RECV);
            registered = true;
        } finally {
            if (!registered) {
                messages.close();
            }
        }
    }

    /** Returns the configuration of the connections of clients. The caller closes it. */
    public static RpmaConnCfg connCfg() {
        // Room for all answers, and for the probe of a silent client.
        int sends = PersistRequest.MOST + 1;
        return RpmaConnCfg.create()
                .setSqSize(sends)
                .setRqSize(PersistRequest.MOST)
                .setCqSize(sends + PersistRequest.MOST);
    }

    /**
     * Accepts a client. Its request must have the configuration {@link #connCfg}.
     *
     * @param service the identifier of this program
     */
    public RpmaConn accept(RpmaConnReq request, int service) {
        try {
            for (int slot = 0; slot < PersistRequest.MOST; slot++) {
                request.recv(received, offset(slot), PersistRequest.LENGTH, slot);
            }
        } catch (RuntimeException e) {
            request.close();
            throw e;
        }
        return request.connect(offer.toPrivateData(service));
    }

    private static long offset(long slot) {
        return slot * PersistRequest.LENGTH;
    }

    /**
     * Serves a client until it is gone.
     *
     * @param silence the time without a message after which the client is probed, and the timeout of the probe, in seconds
     * @param timeout the maximum time to serve the client, in nanoseconds
     * @return the reason why the client is gone; empty after the timeout
     */
    public Optional<String> serve(RpmaConn conn, int silence, long timeout) throws InterruptedException {
        Session session = new Session(conn, silence);
        long begun = System.nanoTime();
        Optional<String> end = Optional.empty();
        while (end.isEmpty() && System.nanoTime() - begun < timeout) {
            end = session.goOn();
        }
        return end;
    }

    /** Serves one client. */
    private final class Session {
        private final RpmaConn conn;
        private final int silence;
        private final RpmaCompletions completions = RpmaCompletions.create(PersistRequest.MOST);
        private int owedAnswers;
        private long heard = System.nanoTime();
        private boolean asked;

        Session(RpmaConn conn, int silence) {
            this.conn = conn;
            this.silence = silence;
        }

        /** Waits a while for requests and answers them. If the client is gone, returns the reason. */
        Optional<String> goOn() throws InterruptedException {
            Optional<RpmaConnEvent> event = conn.nextEvent(0, SECONDS);
            if (event.isPresent()) {
                return event.map(RpmaConnEvent::description);
            }
            int taken = conn.getCq().await(completions, CHECK_MS, MILLISECONDS);
            if (taken == 0) {
                return askIfSilent();
            }
            heard = System.nanoTime();
            asked = false;
            for (int i = 0; i < taken; i++) {
                if (!completions.isSuccess(i)) {
                    return Optional.of(completions.status(i).description());
                }
                if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                    try {
                        carryOut(completions.wrId(i));
                    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                        return Optional.of("it has sent a wrong request: " + e.getMessage());
                    } catch (UncheckedIOException e) {
                        return Optional.of("its bytes can't be made persistent: " + e.getMessage());
                    }
                }
                answer();
            }
            return Optional.empty();
        }

        private void carryOut(long slot) {
            PersistRequest.get(messages.buffer(offset(slot), PersistRequest.LENGTH))
                    .carryOut(memory);
            conn.recv(received, offset(slot), PersistRequest.LENGTH, slot);
            owedAnswers++;
        }

        /** Sends the answers for which the send queue has room; completions make room for the others. */
        private void answer() {
            while (owedAnswers > 0 && conn.send(RpmaConn.F_COMPLETION_ALWAYS, 0)) {
                owedAnswers--;
            }
        }

        /** Probes a silent client by an empty write, because no event reports the death of the client's host. */
        private Optional<String> askIfSilent() {
            if (System.nanoTime() - heard < SECONDS.toNanos(silence)) {
                return Optional.empty();
            }
            if (asked) {
                return Optional.of("no answer within " + silence + " s");
            }
            heard = System.nanoTime();
            asked = conn.write(RpmaConn.F_COMPLETION_ALWAYS, 0);
            return Optional.empty();
        }
    }

    /** Call this when no client is connected. */
    @Override
    public void close() {
        received.close();
        messages.close();
    }
}
