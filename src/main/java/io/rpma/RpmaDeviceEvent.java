// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * An event of a device: a port that goes down or up, a device that fails, or a queue that has failed.
 *
 * <p>{@link RpmaDevice#nextEvent()} and {@link RpmaEventLoop#onDeviceEvent} report it. Which events there are depends on
 * the device.
 *
 * <p>Manual page: ibv_get_async_event(3).
 *
 * @param type the type
 * @param port the number of the port, from 1; 0 if the event is not of a port
 * @param qpNum the number of the queue pair ({@link RpmaConn#getQpNum}, {@code RdmaQp.qpNum}), unsigned; 0 if the event
 *     is not of a queue pair
 * @param complFd the descriptor of the completion channel ({@link RpmaCq#getFd}) of a completion queue that has failed;
 *     -1 for any other event
 */
public record RpmaDeviceEvent(Type type, int port, int qpNum, int complFd) {
    /** The type of an event: {@code enum ibv_event_type}. */
    public enum Type {
        /** A completion queue has overflowed or failed, and has lost completions. */
        CQ_ERR,
        /** A queue pair has failed. */
        QP_FATAL,
        /** A queue pair has received a request that is invalid. */
        QP_REQ_ERR,
        /** A queue pair has received a request without the right to access the memory. */
        QP_ACCESS_ERR,
        /** A queue pair has received its first message before its connection was established. */
        COMM_EST,
        /** The send queue of a queue pair is drained. */
        SQ_DRAINED,
        /** A connection uses its alternate path. */
        PATH_MIG,
        /** A connection can't use its alternate path. */
        PATH_MIG_ERR,
        /** The device has failed or was removed. */
        DEVICE_FATAL,
        /** A port is active: its link is up. */
        PORT_ACTIVE,
        /** A port is not active any more: its link is down. */
        PORT_ERR,
        /** The local identifier of a port has changed. */
        LID_CHANGE,
        /** The table of partition keys of a port has changed. */
        PKEY_CHANGE,
        /** A port has another subnet manager. */
        SM_CHANGE,
        /** A shared receive queue has failed. */
        SRQ_ERR,
        /** A shared receive queue has fewer receives than its limit. */
        SRQ_LIMIT_REACHED,
        /** A queue pair with a shared receive queue takes no more receives from it. */
        QP_LAST_WQE_REACHED,
        /** The subnet manager asks the programs to register again. */
        CLIENT_REREGISTER,
        /** The table of GIDs of a port has changed, for example because an interface has got an address. */
        GID_CHANGE,
        /** A work queue has failed. */
        WQ_FATAL,
        /** A type that the library does not know. */
        UNKNOWN;

        private static final Type[] VALUES = values();

        private static Type of(long value) {
            return value >= 0 && value < UNKNOWN.ordinal() ? VALUES[(int) value] : UNKNOWN;
        }
    }

    /** The event with the values of {@code deviceNextEvent}. */
    static RpmaDeviceEvent of(long[] values) {
        return new RpmaDeviceEvent(Type.of(values[0]), (int) values[1], (int) values[2], (int) values[3]);
    }
}
