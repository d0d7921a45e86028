package io.rpma.rdmacm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * What has happened to an id: {@code struct rdma_cm_event}. A plain value; librdmacm's event is acknowledged already.
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

    private final ByteBuffer event;

    /** Before it is taken: an event that had been taken and for which there was no memory would be lost. */
    RdmaEvent() {
        event = ByteBuffer.allocate(SIZE).order(ByteOrder.nativeOrder());
    }

    /** Room for the native to fill in. */
    byte[] bytes() {
        return event.array();
    }

    /** {@return what has happened} */
    public RdmaEventType type() {
        return RdmaEventType.of(event.getInt(TYPE));
    }

    /**
     * {@return how it ended: 0, a negative errno, or the reason that the transport gives for a rejection}
     */
    public int status() {
        return event.getInt(STATUS);
    }

    /**
     * {@return the other side's private data, filled up with zeroes to the length of {@link RdmaConnParam#privateData};
     * empty where there is none}
     */
    public byte[] privateData() {
        byte[] data = new byte[number(PRIVATE_DATA_LEN)];
        event.get(PRIVATE_DATA, data);
        return data;
    }

    /** {@return how many reads and atomics of the other side may be carried out at once, as it asks for} */
    public int responderResources() {
        return number(RESPONDER_RESOURCES);
    }

    /** {@return how many reads and atomics of this side may be under way at once, as the other side offers} */
    public int initiatorDepth() {
        return number(INITIATOR_DEPTH);
    }

    /** {@return whether the other side's device controls the flow} */
    public boolean flowControl() {
        return number(FLOW_CONTROL) != 0;
    }

    /** {@return how often the other side wants packets sent again; only of a request} */
    public int retryCount() {
        return number(RETRY_COUNT);
    }

    /** {@return how often the other side wants messages sent again that it has no receive for} */
    public int rnrRetryCount() {
        return number(RNR_RETRY_COUNT);
    }

    /** {@return whether the other side has a shared receive queue} */
    public boolean srq() {
        return number(SRQ) != 0;
    }

    /** {@return the number of the other side's queue pair} */
    public int qpNum() {
        return event.getInt(QP_NUM);
    }

    /** {@return the key of the other side's datagram queue pair} */
    public int qkey() {
        return event.getInt(QKEY);
    }

    /** The bytes of {@code struct ibv_ah_attr}, or null. */
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
