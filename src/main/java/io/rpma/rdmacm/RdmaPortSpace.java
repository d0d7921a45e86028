package io.rpma.rdmacm;

/**
 * What an id is for: {@code enum rdma_port_space}. Ports of different spaces have nothing to do with each other.
 *
 * <p>Manual page: rdma_create_id(3).
 */
public enum RdmaPortSpace {
    /** Connections: reliable, with reads, writes and atomics. */
    TCP(0x0106, 56, 196, 148),
    /** Datagrams: unreliable, one packet each. */
    UDP(0x0111, 180, 136, 136);

    private final int value;
    private final int connectData;
    private final int acceptData;
    private final int rejectData;

    /** The private data is what InfiniBand's messages have room for, where a request has 36 bytes of RDMA CM itself. */
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
