package io.rpma.bench.device;

/** The measured operations of one connection; {@code native/bench/client.h} has the same. */
enum Operation {
    WRITE("write"),
    READ("read"),
    /** A write and its flush. */
    FLUSH_VISIBILITY("flush-visibility"),
    /** A write into persistent memory and its flush. */
    FLUSH_PERSISTENT("flush-persistent"),
    ATOMIC_WRITE("atomic-write"),
    /** Until the answer with the same bytes has arrived. */
    SEND("send"),
    /** Until the answer without bytes has arrived. */
    WRITE_WITH_IMM("write-with-imm"),
    /** From here on librdmacm's operations. */
    RDMA_WRITE("rdma-write"),
    /** A write whose bytes the post copies. */
    RDMA_WRITE_INLINE("rdma-write-inline"),
    RDMA_READ("rdma-read"),
    /** Until the answer with the same bytes has arrived. */
    RDMA_SEND("rdma-send"),
    /** Of 8 bytes. */
    RDMA_FETCH_AND_ADD("rdma-fetch-and-add");

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

    /** Returns whether librdmacm posts the operation, on its own id, and not librpma. */
    boolean isRdmacm() {
        return compareTo(RDMA_WRITE) >= 0;
    }
}
