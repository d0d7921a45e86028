package io.rpma.rdmacm;

/**
 * What an id is for: {@code enum rdma_port_space}. Ports of different spaces have nothing to do with each other.
 *
 * <p>Manual page: rdma_create_id(3).
 */
public enum RdmaPortSpace {
    /** Connections: reliable, with reads, writes and atomics. */
    TCP(0x0106),
    /** Datagrams: unreliable, one packet each. */
    UDP(0x0111);

    private final int value;

    RdmaPortSpace(int value) {
        this.value = value;
    }

    int value() {
        return value;
    }
}
