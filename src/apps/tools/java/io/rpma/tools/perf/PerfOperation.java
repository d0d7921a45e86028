// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaMrUsage;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The operations that {@code perf} measures. The order of the constants is a part of the protocol. In a chart,
 * corresponding operations of the two libraries have the same colour, because their constants have the same distance.
 */
enum PerfOperation {
    WRITE("write", RpmaMrUsage.WRITE_DST),
    READ("read", RpmaMrUsage.READ_SRC),
    /** A write with immediate data, which takes a receive, and the server's answer without bytes. */
    WRITE_IMM("write-imm", RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV),
    ATOMIC_WRITE("atomic-write", RpmaMrUsage.WRITE_DST),
    /** A write and its flush. An emulated flush reads. */
    FLUSH_VISIBLE("flush-visible", RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY),
    /** A message, and the server's answer with the same number of bytes. */
    SEND("send", RpmaMrUsage.RECV, RpmaMrUsage.SEND),
    /** A write into persistent memory and its flush. */
    FLUSH_PERSISTENT(
            "flush-persistent", RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_PERSISTENT),
    /** The first of librdmacm's operations; all before are librpma's. */
    RDMA_WRITE("rdma-write"),
    RDMA_READ("rdma-read"),
    RDMA_WRITE_IMM("rdma-write-imm"),
    /** An atomic of 8 bytes. */
    RDMA_FETCH_AND_ADD("rdma-fetch-add"),
    /** A write whose bytes the post copies into the queue. */
    RDMA_WRITE_INLINE("rdma-inline"),
    RDMA_SEND("rdma-send"),
    /** An atomic of 8 bytes, which finds the expected value. */
    RDMA_COMPARE_AND_SWAP("rdma-cmp-swap");

    private final String title;
    private final List<RpmaMrUsage> usages;

    PerfOperation(String title, RpmaMrUsage... usages) {
        this.title = title;
        this.usages = List.of(usages);
    }

    /** Returns the operation with a name; empty if there is none. */
    static Optional<PerfOperation> of(String title) {
        return Stream.of(values())
                .filter(operation -> operation.title.equals(title))
                .findFirst();
    }

    /**
     * Returns the usages for which the server registers memory for an operation of librpma: those that the operation
     * needs, and no others.
     */
    RpmaMrUsage[] usages() {
        return usages.toArray(RpmaMrUsage[]::new);
    }

    /** Returns whether the server's answer completes the operation. */
    boolean isAnswered() {
        return this == SEND || this == WRITE_IMM || this == RDMA_SEND || this == RDMA_WRITE_IMM;
    }

    /** Returns whether the operation is a message, so that each side needs memory for both directions. */
    boolean isMessage() {
        return this == SEND || this == RDMA_SEND;
    }

    /** Returns whether librdmacm posts the operation. librpma posts the others. */
    boolean isRdmacm() {
        return compareTo(RDMA_WRITE) >= 0;
    }

    /** Returns whether all operations of this kind have 8 bytes. */
    boolean isOfOneWord() {
        return this == ATOMIC_WRITE || this == RDMA_FETCH_AND_ADD || this == RDMA_COMPARE_AND_SWAP;
    }

    /** Returns whether the operation has a write and a flush. */
    boolean isFlushed() {
        return this == FLUSH_VISIBLE || this == FLUSH_PERSISTENT;
    }

    /** Returns whether an operation can have this number of bytes. */
    boolean fits(long size) {
        if (isOfOneWord()) {
            return size == Long.BYTES;
        }
        // an emulated flush reads 8 bytes
        return isFlushed() ? size >= Long.BYTES : this != RDMA_WRITE_INLINE || size <= PerfRequest.MOST_INLINE;
    }

    /** Describes the sizes for which {@link #fits} is false. */
    String unfitting() {
        return isFlushed() ? "sizes below 8 B" : "sizes above " + PerfRequest.MOST_INLINE + " B";
    }

    @Override
    public String toString() {
        return title;
    }
}
