// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

/**
 * The types of the events that the communication manager reports for an id: {@code enum rdma_cm_event_type}.
 *
 * <p>Manual page: rdma_get_cm_event(3).
 */
public enum RdmaEventType {
    /** The remote address is resolved, and the id is bound to a device. */
    ADDR_RESOLVED,
    /** The remote address can't be resolved. */
    ADDR_ERROR,
    /** The route is resolved, and the id can connect. */
    ROUTE_RESOLVED,
    /** The route can't be resolved. */
    ROUTE_ERROR,
    /** A client requests a connection. {@link RdmaId#getRequest} takes this event. */
    CONNECT_REQUEST,
    /** The other side has accepted. An id with a queue pair gets {@link #ESTABLISHED} instead. */
    CONNECT_RESPONSE,
    /** The connection can't be established. */
    CONNECT_ERROR,
    /** The other side can't be reached or does not answer. */
    UNREACHABLE,
    /** The other side has rejected the request, or no id listens on the remote address and port. */
    REJECTED,
    /** The connection is established. For a datagram id: the remote queue pair is known. */
    ESTABLISHED,
    /** The connection is closed. */
    DISCONNECTED,
    /** The device is removed, and the id must be closed. */
    DEVICE_REMOVAL,
    /** The id has joined a multicast group. */
    MULTICAST_JOIN,
    /** The id can't join a multicast group, or the group no longer exists. */
    MULTICAST_ERROR,
    /** The address of the device has changed. */
    ADDR_CHANGE,
    /** The queue pair of the connection can be used again. */
    TIMEWAIT_EXIT,
    /** An event of a type that the library does not know. */
    UNKNOWN;

    private static final RdmaEventType[] VALUES = values();

    static RdmaEventType of(int value) {
        return value >= 0 && value < UNKNOWN.ordinal() ? VALUES[value] : UNKNOWN;
    }
}
