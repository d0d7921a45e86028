package io.rpma.bench.device;

/** What is measured of one connection; {@code native/bench/client.h} has the same. */
enum Operation {
    WRITE("write"),
    READ("read"),
    /** A write and its flush. */
    FLUSH_VISIBILITY("flush-visibility"),
    /** A write into persistent memory and its flush. */
    FLUSH_PERSISTENT("flush-persistent"),
    ATOMIC_WRITE("atomic-write"),
    /** Until the answer, of the same bytes, is there. */
    SEND("send"),
    /** Until the answer, of no bytes, is there. */
    WRITE_WITH_IMM("write-with-imm"),
    /** Of librdmacm, as those that follow. */
    RDMA_WRITE("rdma-write"),
    /** A write of bytes that the post copies. */
    RDMA_WRITE_INLINE("rdma-write-inline"),
    RDMA_READ("rdma-read"),
    /** Until the answer, of the same bytes, is there. */
    RDMA_SEND("rdma-send"),
    /** Of 8 bytes. */
    RDMA_FETCH_AND_ADD("rdma-fetch-and-add");

    private final String command;

    Operation(String command) {
        this.command = command;
    }

    /** Its name in commands and reports. */
    String command() {
        return command;
    }

    /** The operation of a name in commands. */
    static Operation of(String command) {
        for (Operation operation : values()) {
            if (operation.command.equals(command)) {
                return operation;
            }
        }
        throw new IllegalArgumentException("no operation " + command);
    }

    /** Whether it is done only when the target has answered. */
    boolean isAnswered() {
        return this == SEND || this == WRITE_WITH_IMM || this == RDMA_SEND;
    }

    /** Whether librdmacm posts it, on an id of its own; else librpma. */
    boolean isRdmacm() {
        return compareTo(RDMA_WRITE) >= 0;
    }
}
