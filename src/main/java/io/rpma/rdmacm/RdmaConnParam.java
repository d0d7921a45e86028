package io.rpma.rdmacm;

import io.rpma.internal.Natives;

/**
 * What is told to the other side when a connection is asked for or accepted: {@code struct rdma_conn_param}. Without changes
 * it is what librdmacm takes for {@code NULL}.
 *
 * <p>A plain object, not for use by several threads at once. It is read when it is passed.
 *
 * <p>Manual pages: rdma_connect(3), rdma_accept(3).
 */
public final class RdmaConnParam {
    /** As many as the device has. */
    public static final int MAX = 0xff;

    private static final int MAX_PRIVATE_DATA = 255;
    private static final int MAX_RETRIES = 7;

    private byte[] privateData = {};
    private int responderResources = MAX;
    private int initiatorDepth = MAX;
    private boolean flowControl;
    private int retryCount = MAX_RETRIES;
    private int rnrRetryCount = MAX_RETRIES;

    /** Creates the parameters that librdmacm takes for {@code NULL}. */
    public RdmaConnParam() {}

    /**
     * Sets the private data.
     *
     * <p>InfiniBand and RoCE take with {@link RdmaPortSpace#TCP} 56 bytes to connect, 196 to accept and 148 to reject, with
     * {@link RdmaPortSpace#UDP} 180, 136 and 136; the call that passes more throws {@link IllegalArgumentException}. What
     * arrives there has that length, filled up with zeroes.
     *
     * @param data 0 to 255 bytes; copied
     * @return this
     * @throws IllegalArgumentException if they are more
     */
    public RdmaConnParam privateData(byte[] data) {
        privateData = checkedPrivateData(data);
        return this;
    }

    static byte[] checkedPrivateData(byte[] data) {
        if (data.length > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "private data has at most " + MAX_PRIVATE_DATA + " bytes, not " + data.length);
        }
        return data.clone();
    }

    /**
     * Sets how many reads and atomics of the other side are carried out at once.
     *
     * @param resources 0 to 254, or {@link #MAX}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaConnParam responderResources(int resources) {
        responderResources = checked("responder resources", resources, MAX);
        return this;
    }

    /**
     * Sets how many reads and atomics of this side are under way at once.
     *
     * @param depth 0 to 254, or {@link #MAX}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaConnParam initiatorDepth(int depth) {
        initiatorDepth = checked("initiator depth", depth, MAX);
        return this;
    }

    /**
     * Sets whether the device controls the flow of messages end to end.
     *
     * @param wanted whether it does
     * @return this
     */
    public RdmaConnParam flowControl(boolean wanted) {
        flowControl = wanted;
        return this;
    }

    /**
     * Sets how often a packet without an answer is sent again.
     *
     * @param count 0 to 7
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaConnParam retryCount(int count) {
        retryCount = checked("retry count", count, MAX_RETRIES);
        return this;
    }

    /**
     * Sets how often the other side sends a message again that this side has no receive for. When it has been sent so often
     * it completes there with {@link io.rpma.RpmaWcStatus#RNR_RETRY_EXC_ERR}, and the connection is broken.
     *
     * @param count 0 to 6, or 7 for no end
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaConnParam rnrRetryCount(int count) {
        rnrRetryCount = checked("RNR retry count", count, MAX_RETRIES);
        return this;
    }

    private static int checked(String name, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(name + " must be 0 to " + most + ", not " + value);
        }
        return value;
    }

    int privateDataLength() {
        return privateData.length;
    }

    int connect(long id) {
        return Natives.idConnect(
                id, privateData, responderResources, initiatorDepth, flowControl, retryCount, rnrRetryCount);
    }

    int accept(long id) {
        return Natives.idAccept(
                id, privateData, responderResources, initiatorDepth, flowControl, retryCount, rnrRetryCount);
    }
}
