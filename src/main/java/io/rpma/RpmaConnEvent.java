// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Errno;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;

/**
 * An event of a connection.
 *
 * <p>Manual page: <a href="https://pmem.io/rpma/manpages/v1.3.0/rpma_conn_next_event.3">rpma_conn_next_event(3)</a>.
 */
public enum RpmaConnEvent {
    /** The connection is established. The private data of the other side is available. */
    ESTABLISHED,
    /**
     * The connection is closed. The side that disconnected receives the event after the answer of the other side, or
     * when the answer times out. The event may occur twice.
     */
    CLOSED,
    /**
     * The connection could not be established because of an error, or the device was removed. A host or network that
     * fails causes no event: operations then fail with {@link RpmaWcStatus#RETRY_EXC_ERR}. On soft-RoCE they may never
     * complete, so wait with a timeout.
     */
    LOST,
    /** The other side has rejected the request, or nothing listens at its address and port. */
    REJECTED,
    /** The other side can't be reached. */
    UNREACHABLE;

    private static final RpmaConnEvent[] VALUES = values();

    /**
     * {@return librpma's name of the event}
     *
     * @throws UnsatisfiedLinkError if the native library can't be loaded
     */
    public String description() {
        Loader.ensureLoaded();
        return Natives.connEventMessage(ordinal());
    }

    /** The error of a call that fails because of the event. */
    int errno() {
        switch (this) {
            case REJECTED:
                return Errno.ECONNREFUSED;
            case UNREACHABLE:
                return Errno.EHOSTUNREACH;
            default:
                return Errno.ENOTCONN;
        }
    }

    /** The event with this value of {@code enum rpma_conn_event}. */
    static RpmaConnEvent of(int value) {
        return VALUES[value];
    }
}
