// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * The operation of a completion: the values of {@code enum ibv_wc_opcode} for the operations that this library posts.
 *
 * <p>Without native flush, a flush completes as {@link #RDMA_READ}. Without native atomic write, an atomic write
 * completes as {@link #RDMA_WRITE}. To distinguish operations, use their operation contexts.
 *
 * <p>Manual page: ibv_poll_cq(3).
 */
public enum RpmaWcOpcode {
    /** A message was sent. */
    SEND(0),
    /** A write, or an emulated atomic write. */
    RDMA_WRITE(1),
    /** A read, or an emulated flush. */
    RDMA_READ(2),
    /** A compare-and-swap of {@code io.rpma.rdmacm}. */
    COMP_SWAP(3),
    /** A fetch-and-add of {@code io.rpma.rdmacm}. */
    FETCH_ADD(4),
    /** A native flush. */
    FLUSH(8),
    /** A native atomic write. */
    ATOMIC_WRITE(9),
    /** A message was received. */
    RECV(128),
    /** A write with immediate data has arrived. */
    RECV_RDMA_WITH_IMM(129),
    /** An operation that this library never posts. */
    UNKNOWN(-1);

    private static final RpmaWcOpcode[] BY_VALUE = new RpmaWcOpcode[RECV_RDMA_WITH_IMM.value + 1];

    static {
        for (RpmaWcOpcode opcode : values()) {
            if (opcode != UNKNOWN) {
                BY_VALUE[opcode.value] = opcode;
            }
        }
    }

    private final int value;

    RpmaWcOpcode(int value) {
        this.value = value;
    }

    static RpmaWcOpcode of(int value) {
        RpmaWcOpcode opcode = value >= 0 && value < BY_VALUE.length ? BY_VALUE[value] : null;
        return opcode != null ? opcode : UNKNOWN;
    }
}
