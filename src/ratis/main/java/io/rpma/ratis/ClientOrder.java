// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import java.util.HashMap;
import java.util.Map;

/**
 * The order of the asynchronous requests of a connection. Ratis's client numbers them, marks the first one, and sends
 * the others when the first one is answered; those that it repeats after a failure can arrive in any order.
 */
final class ClientOrder {
    /** The number of a request that has no order. */
    static final long NONE = 0;

    private final Map<Long, Request> early = new HashMap<>();
    private long next = -1;

    /** A request that can wait for earlier ones. */
    interface Request {
        /** Submits the request to the server. */
        void submit();

        /** Answers the request, because the client has repeated it. */
        void drop();
    }

    /** Submits a request, and those that have waited for it, or lets it wait for earlier ones. */
    void arrived(long number, boolean isFirst, Request request) {
        if (isFirst) {
            next = number;
        }
        if (number == NONE || (next >= 0 && number < next)) {
            request.submit();
            return;
        }
        Request before = early.put(number, request);
        if (before != null) {
            before.drop();
        }
        for (Request ready = early.remove(next); ready != null; ready = early.remove(next)) {
            next++;
            ready.submit();
        }
    }
}
