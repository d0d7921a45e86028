// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An event of an id: {@code struct rdma_cm_event}. This object is a copy; the event of librdmacm is already
 * acknowledged.
 *
 * <p>Manual page: rdma_get_cm_event(3).
 */
public final class RdmaEvent {
    // struct event of native/rdmacm_id.c
    private static final int SIZE = 312;
    private static final int TYPE = 0;
    private static final int STATUS = 4;
    private static final int QP_NUM = 8;
    private static final int QKEY = 12;
    private static final int RESPONDER_RESOURCES = 16;
    private static final int INITIATOR_DEPTH = 17;
    private static final int FLOW_CONTROL = 18;
    private static final int RETRY_COUNT = 19;
    private static final int RNR_RETRY_COUNT = 20;
    private static final int SRQ = 21;
    private static final int HAS_AH_ATTR = 22;
    private static final int PRIVATE_DATA_LEN = 23;
    private static final int PRIVATE_DATA = 24;
    private static final int AH_ATTR = 280;

    /** The type until the native method has filled the array. */
    private static final int NOT_TAKEN = -1;

    private final ByteBuffer event;

    /** Allocates the memory before the event is taken. If the allocation failed afterwards, the event would be lost. */
    RdmaEvent() {
        event = ByteBuffer.allocate(SIZE).order(ByteOrder.nativeOrder());
        event.putInt(TYPE, NOT_TAKEN);
    }

    /** The array for the native method to fill. */
    byte[] bytes() {
        return event.array();
    }

    /** Returns whether the native method has filled the array. */
    boolean isTaken() {
        return event.getInt(TYPE) != NOT_TAKEN;
    }

    /** {@return the type of the event} */
    public RdmaEventType type() {
        return RdmaEventType.of(event.getInt(TYPE));
    }

    /** {@return the status: 0, a negative errno, or the transport's reason for a rejection} */
    public int status() {
        return event.getInt(STATUS);
    }

    /**
     * {@return the private data of the other side, padded with zeroes to the maximum length that
     * {@link RdmaConnParam#privateData} documents; empty if there is none}
     */
    public byte[] privateData() {
        byte[] data = new byte[number(PRIVATE_DATA_LEN)];
        event.get(PRIVATE_DATA, data);
        return data;
    }

    /** {@return how many reads and atomics the other side wants to have outstanding concurrently} */
    public int responderResources() {
        return number(RESPONDER_RESOURCES);
    }

    /** {@return the number of reads and atomics of this side that the other side serves concurrently} */
    public int initiatorDepth() {
        return number(INITIATOR_DEPTH);
    }

    /** {@return whether the other side reports end-to-end flow control} */
    public boolean flowControl() {
        return number(FLOW_CONTROL) != 0;
    }

    /**
     * {@return the number of times that a packet without an acknowledgement is resent; set only in a connection request}
     */
    public int retryCount() {
        return number(RETRY_COUNT);
    }

    /**
     * {@return the number of times that this side resends a message for which the other side has no receive posted; 7 means indefinitely. The other side determines this number}
     */
    public int rnrRetryCount() {
        return number(RNR_RETRY_COUNT);
    }

    /** {@return whether the other side has a shared receive queue} */
    public boolean srq() {
        return number(SRQ) != 0;
    }

    /** {@return the number of the remote queue pair} */
    public int qpNum() {
        return event.getInt(QP_NUM);
    }

    /** {@return the key of the remote datagram queue pair} */
    public int qkey() {
        return event.getInt(QKEY);
    }

    /** The bytes of {@code struct ibv_ah_attr}, or null if the event has none. */
    byte[] ahAttr() {
        return number(HAS_AH_ATTR) != 0 ? Arrays.copyOfRange(event.array(), AH_ATTR, SIZE) : null;
    }

    private int number(int offset) {
        return Byte.toUnsignedInt(event.get(offset));
    }

    @Override
    public String toString() {
        return type() + (status() == 0 ? "" : " (status " + status() + ")");
    }
}
