// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaConn;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/**
 * The requests of one connection to make bytes persistent, see {@link PersistRequest}.
 *
 * <p>A message remains in its slot until its send has completed. The receive of an answer is posted before the request,
 * and completes with the ticket of the request.
 */
final class PersistRequests implements AutoCloseable {
    private final RpmaConn conn;
    private final RpmaMemory messages;
    private final RpmaMrLocal region;
    private long asked;
    private long sent;
    private long answered;
    private boolean receivePosted;

    PersistRequests(RpmaPeer peer, RpmaConn conn) {
        this.conn = conn;
        messages = RpmaMemory.allocate((long) PersistRequest.MOST * PersistRequest.LENGTH);
        boolean registered = false;
        try {
            region = peer.register(messages, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
            registered = true;
        } finally {
            if (!registered) {
                messages.close();
            }
        }
    }

    /** Sends a request. Returns false if completions must make room first. */
    boolean ask(PersistRequest request, long ticket) {
        if (asked - Math.min(sent, answered) == PersistRequest.MOST) {
            return false;
        }
        // iWARP has no receive without memory
        receivePosted = receivePosted || conn.recv(region, 0, 0, ticket);
        if (!receivePosted) {
            return false;
        }
        long slot = asked % PersistRequest.MOST * PersistRequest.LENGTH;
        request.put(messages.buffer(slot, PersistRequest.LENGTH));
        if (!conn.send(region, slot, PersistRequest.LENGTH, RpmaConn.F_COMPLETION_ALWAYS, ticket)) {
            return false;
        }
        receivePosted = false;
        asked++;
        return true;
    }

    /** Records that the send of a request has completed. */
    void sent() {
        sent++;
    }

    /** Records that an answer has arrived. */
    void answered() {
        answered++;
    }

    /** Call this after the connection is closed. */
    @Override
    public void close() {
        region.close();
        messages.close();
    }
}
