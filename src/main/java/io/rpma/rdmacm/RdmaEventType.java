package io.rpma.rdmacm;

/**
 * What the communication manager tells of an id: {@code enum rdma_cm_event_type}.
 *
 * <p>Manual page: rdma_get_cm_event(3).
 */
public enum RdmaEventType {
    /** The address of the other side is resolved, and the id has its device. */
    ADDR_RESOLVED,
    /** The address of the other side can't be resolved. */
    ADDR_ERROR,
    /** The route is resolved: the id can connect. */
    ROUTE_RESOLVED,
    /** The route can't be resolved. */
    ROUTE_ERROR,
    /** Somebody asks to connect; {@link RdmaId#getRequest} takes it. */
    CONNECT_REQUEST,
    /** The other side has accepted; never told of an id that has a queue pair, which gets {@link #ESTABLISHED}. */
    CONNECT_RESPONSE,
    /** The connection could not be made. */
    CONNECT_ERROR,
    /** The other side can't be reached, or does not answer. */
    UNREACHABLE,
    /** The other side has rejected the request, or nobody listens at its address and port. */
    REJECTED,
    /** The connection is established; of a datagram id, that the other side's queue pair is known. */
    ESTABLISHED,
    /** The connection is gone. */
    DISCONNECTED,
    /** The device is gone; the id has to be closed. */
    DEVICE_REMOVAL,
    /** A multicast group is joined. */
    MULTICAST_JOIN,
    /** A multicast group can't be joined, or is gone. */
    MULTICAST_ERROR,
    /** The device's address has changed. */
    ADDR_CHANGE,
    /** The connection's queue pair may be used again. */
    TIMEWAIT_EXIT,
    /** An event that the library does not know. */
    UNKNOWN;

    private static final RdmaEventType[] VALUES = values();

    static RdmaEventType of(int value) {
        return value >= 0 && value < UNKNOWN.ordinal() ? VALUES[value] : UNKNOWN;
    }
}
