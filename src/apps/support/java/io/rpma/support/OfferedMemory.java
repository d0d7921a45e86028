// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.RpmaWcStatus;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * Memory that is offered to one client after the other.
 *
 * <p>The device writes the bytes into the memory. A client whose flushes do not make them persistent asks this program
 * to make them persistent, see {@link Persistence#SERVER}.
 */
public final class OfferedMemory implements AutoCloseable {
    /** The time without a completion after which the client is checked. No event reports that its host is dead. */
    private static final long CHECK_S = 1;

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
        // Room for all answers, and for the loop's probe of a silent client.
        int sends = PersistRequest.MOST + 1;
        return RpmaConnCfg.create()
                .setSqSize(sends)
                .setRqSize(PersistRequest.MOST)
                .setCqSize(sends + PersistRequest.MOST);
    }

    /**
     * Accepts a client, and waits until the connection is established. Its request must have the configuration
     * {@link #connCfg}.
     *
     * @param service the identifier of this program
     * @param timeout the maximum time to wait, in seconds
     */
    public RpmaConn accept(RpmaConnReq request, int service, int timeout) throws InterruptedException {
        try {
            for (int slot = 0; slot < PersistRequest.MOST; slot++) {
                request.recv(received, offset(slot), PersistRequest.LENGTH, slot);
            }
        } catch (RuntimeException e) {
            request.close();
            throw e;
        }
        return request.connect(offer.toPrivateData(service), timeout, SECONDS);
    }

    private static long offset(long slot) {
        return slot * PersistRequest.LENGTH;
    }

    /**
     * Serves a client until it is gone.
     *
     * @param silence the time without an answer after which the client's host counts as dead, in seconds
     * @param timeout the maximum time to serve the client, in nanoseconds
     * @return the reason why the client is gone; empty after the timeout
     */
    public Optional<String> serve(RpmaConn conn, int silence, long timeout) throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            Session session = new Session(conn, loop);
            loop.onFailure((source, failure) -> session.fail(failure));
            loop.onEvent(conn, event -> session.end(event.description()));
            loop.onCompletion(conn.getCq(), PersistRequest.MOST, (cq, completions) -> session.serve(completions));
            loop.onPeerLost(
                    conn, CHECK_S, silence, SECONDS, client -> session.end("no answer within " + silence + " s"));
            loop.schedule(loop::stop, timeout, NANOSECONDS);
            loop.run();
            return session.result();
        }
    }

    /** Serves one client, in the thread of the loop. */
    private final class Session {
        private final RpmaConn conn;
        private final RpmaEventLoop loop;
        private int owedAnswers;

        /** The first reason for the end. */
        private String end;

        /** The first failure, with the later ones as suppressed exceptions. */
        private Throwable failure;

        Session(RpmaConn conn, RpmaEventLoop loop) {
            this.conn = conn;
            this.loop = loop;
        }

        void end(String reason) {
            if (end == null) {
                end = reason;
            }
            loop.stop();
        }

        void fail(Throwable thrown) {
            if (failure == null) {
                failure = thrown;
            } else if (failure != thrown) {
                failure.addSuppressed(thrown);
            }
            loop.stop();
        }

        Optional<String> result() {
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            if (failure != null) {
                throw new IllegalStateException("the client can't be served", failure);
            }
            return Optional.ofNullable(end);
        }

        /** Carries out requests, and answers them. */
        void serve(RpmaCompletions completions) {
            for (int i = 0; i < completions.count(); i++) {
                if (completions.status(i) == RpmaWcStatus.WR_FLUSH_ERR) {
                    return; // an event reports the end of the connection; on iWARP, it comes afterwards
                }
                if (!completions.isSuccess(i)) {
                    end(completions.status(i).description());
                    return;
                }
                if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                    try {
                        carryOut(completions.wrId(i), completions.byteLen(i));
                    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                        end("it has sent a wrong request: " + e.getMessage());
                        return;
                    } catch (UncheckedIOException e) {
                        end("its bytes can't be made persistent: " + e.getMessage());
                        return;
                    }
                }
                answer();
            }
        }

        private void carryOut(long slot, long length) {
            PersistRequest.get(messages.buffer(offset(slot), (int) length)).carryOut(memory);
            conn.recv(received, offset(slot), PersistRequest.LENGTH, slot);
            owedAnswers++;
        }

        /** Sends the answers for which the send queue has room; completions make room for the others. */
        private void answer() {
            while (owedAnswers > 0 && conn.send(RpmaConn.F_COMPLETION_ALWAYS, 0)) {
                owedAnswers--;
            }
        }
    }

    /** Call this when no client is connected. */
    @Override
    public void close() {
        received.close();
        messages.close();
    }
}
