// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

/** The measured operations of one connection; {@code src/apps/bench/c/client.h} has the same operations. */
enum Operation {
    WRITE("write"),
    READ("read"),
    /** A write and its flush. */
    FLUSH_VISIBILITY("flush-visibility"),
    /** A write into persistent memory and its flush. */
    FLUSH_PERSISTENT("flush-persistent"),
    ATOMIC_WRITE("atomic-write"),
    /** A message, and the target's answer with the same bytes. */
    SEND("send"),
    /** A write with immediate data, and the target's answer without bytes. */
    WRITE_WITH_IMM("write-with-imm"),
    /**
     * The first of librdmacm's operations; all before are librpma's, and all after are librdmacm's, except
     * {@link #TCP}.
     */
    RDMA_WRITE("rdma-write"),
    /** A write whose bytes the post copies into the queue. */
    RDMA_WRITE_INLINE("rdma-write-inline"),
    /** A write in a chain: one post for several writes, of which only the last has a completion. */
    RDMA_WRITE_CHAINED("rdma-write-chained"),
    RDMA_READ("rdma-read"),
    /** A message, and the target's answer with the same bytes. */
    RDMA_SEND("rdma-send"),
    /** An atomic of 8 bytes. */
    RDMA_FETCH_AND_ADD("rdma-fetch-and-add"),
    /** A message over TCP, for a comparison, and the target's acknowledgment of one byte. */
    TCP("tcp");

    private final String command;

    Operation(String command) {
        this.command = command;
    }

    /** Returns the name in commands and reports. */
    String command() {
        return command;
    }

    /** Returns the operation with this name in commands. */
    static Operation of(String command) {
        for (Operation operation : values()) {
            if (operation.command.equals(command)) {
                return operation;
            }
        }
        throw new IllegalArgumentException("no operation " + command);
    }

    /** Returns whether the target's answer completes the operation. */
    boolean isAnswered() {
        return this == SEND || this == WRITE_WITH_IMM || this == RDMA_SEND;
    }

    /** Returns whether librpma posts the operation. */
    boolean isRpma() {
        return compareTo(RDMA_WRITE) < 0;
    }

    /** Returns whether librdmacm posts the operation, on an id of its own. */
    boolean isRdmacm() {
        return !isRpma() && this != TCP;
    }
}
