// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Natives;

/**
 * The connection parameters that a request or its acceptance sends to the other side: {@code struct rdma_conn_param}.
 * The initial values are the defaults that librdmacm uses if a C program passes {@code NULL}.
 *
 * <pre>{@code
 * byte[] greeting = {1, 2, 3};
 * id.connect(new RdmaConnParam().privateData(greeting).retryCount(5));
 * }</pre>
 *
 * <p>Not safe for use by several threads at once. The call that takes the parameters reads them; later changes have no
 * effect on the connection.
 *
 * <p>Manual pages: rdma_connect(3), rdma_accept(3).
 */
public final class RdmaConnParam {
    /** Stands for the maximum of the device. In an acceptance, the number in the request limits it too. */
    public static final int MAX = 0xff;

    private static final int MAX_PRIVATE_DATA = 255;
    private static final int MAX_RETRIES = 7;

    private byte[] privateData = {};
    private int responderResources = MAX;
    private int initiatorDepth = MAX;
    private boolean flowControl;
    private int retryCount = MAX_RETRIES;
    private int rnrRetryCount = MAX_RETRIES;

    /** Creates parameters with the defaults of librdmacm. */
    public RdmaConnParam() {}

    /**
     * Sets the private data.
     *
     * <p>On InfiniBand and RoCE, the maximum length for {@link RdmaPortSpace#TCP} is 56 bytes to connect, 196 to accept
     * and 148 to reject. For {@link RdmaPortSpace#UDP} it is 180, 136 and 136. A call with longer data throws
     * {@link IllegalArgumentException}. The other side receives data of the maximum length, padded with zeroes.
     *
     * @param data 0 to 255 bytes, which are copied
     * @return this
     * @throws IllegalArgumentException if {@code data} is longer than 255 bytes
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
     * Sets how many reads and atomics of the other side this side serves concurrently.
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
     * Sets how many reads and atomics of this side are outstanding concurrently.
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
     * Sets whether this side reports end-to-end flow control to the other side. The value does not configure the queue
     * pair.
     *
     * @param wanted true to report flow control
     * @return this
     */
    public RdmaConnParam flowControl(boolean wanted) {
        flowControl = wanted;
        return this;
    }

    /**
     * Sets the number of times that a packet without an acknowledgement is resent. Has no effect in an acceptance.
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
     * Sets how often the other side resends a message for which this side has no receive posted. After the last
     * attempt, the message completes on the other side with {@link io.rpma.RpmaWcStatus#RNR_RETRY_EXC_ERR}, and the
     * connection is broken.
     *
     * @param count 0 to 6, or 7 to resend indefinitely
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

    @Override
    public String toString() {
        return "RdmaConnParam[privateData=" + privateData.length + " bytes, responderResources=" + responderResources
                + ", initiatorDepth=" + initiatorDepth + ", flowControl=" + flowControl + ", retryCount=" + retryCount
                + ", rnrRetryCount=" + rnrRetryCount + "]";
    }
}
