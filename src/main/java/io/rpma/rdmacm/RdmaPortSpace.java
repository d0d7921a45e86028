// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

/**
 * The port space of an id: {@code enum rdma_port_space}. Port spaces are independent of each other.
 *
 * <p>Manual page: rdma_create_id(3).
 */
public enum RdmaPortSpace {
    /** Reliable connections, with reads, writes and atomics. */
    TCP(0x0106, 56, 196, 148),
    /** Unreliable datagrams of one packet each. */
    UDP(0x0111, 180, 136, 136);

    private final int value;
    private final int connectData;
    private final int acceptData;
    private final int rejectData;

    /**
     * Takes the maximum lengths of the private data, which the message formats of InfiniBand determine. In a request,
     * RDMA CM itself uses 36 bytes of the private data.
     */
    RdmaPortSpace(int value, int connectData, int acceptData, int rejectData) {
        this.value = value;
        this.connectData = connectData;
        this.acceptData = acceptData;
        this.rejectData = rejectData;
    }

    int value() {
        return value;
    }

    int connectData() {
        return connectData;
    }

    int acceptData() {
        return acceptData;
    }

    int rejectData() {
        return rejectData;
    }
}
