// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

/**
 * The requested attributes of a queue pair: {@code struct ibv_qp_init_attr}. The device may grant more: see
 * {@link RdmaQp}.
 *
 * <pre>{@code
 * RdmaQpInitAttr attributes = new RdmaQpInitAttr()
 *         .maxSendWr(64)
 *         .maxRecvWr(16)
 *         .maxSendSge(2)
 *         .maxInlineData(64);
 * id.createQp(attributes);
 * }</pre>
 *
 * <p>Not safe for use by several threads at once. {@link RdmaId#createQp} and {@link RdmaId#createEp} read the
 * attributes; later changes have no effect on their queue pairs.
 *
 * <p>Manual pages: rdma_create_qp(3), ibv_create_qp(3).
 */
public final class RdmaQpInitAttr {
    private int maxSendWr = 1;
    private int maxRecvWr = 1;
    private int maxSendSge = 1;
    private int maxRecvSge = 1;
    private int maxInlineData;
    private boolean sigAll;
    private RdmaSrq srq;

    /** Creates attributes for one operation and one receive at a time, without inline data. */
    public RdmaQpInitAttr() {}

    /** A copy for the ids of a listener: changes of the original must not affect them. */
    RdmaQpInitAttr(RdmaQpInitAttr original) {
        maxSendWr = original.maxSendWr;
        maxRecvWr = original.maxRecvWr;
        maxSendSge = original.maxSendSge;
        maxRecvSge = original.maxRecvSge;
        maxInlineData = original.maxInlineData;
        sigAll = original.sigAll;
        srq = original.srq;
    }

    /**
     * Sets how many operations can be outstanding, and how many completions their completion queue holds.
     *
     * @param count at least 1
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaQpInitAttr maxSendWr(int count) {
        maxSendWr = checked("send requests", count, 1, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Sets how many receives can be posted, and how many completions their completion queue holds. With a shared
     * receive queue, only the number of completions applies.
     *
     * @param count at least 1
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaQpInitAttr maxRecvWr(int count) {
        maxRecvWr = checked("receive requests", count, 1, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Sets the maximum number of parts of an operation.
     *
     * @param count 1 to {@link RdmaSgeList#MAX_CAPACITY}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaQpInitAttr maxSendSge(int count) {
        maxSendSge = checked("parts of an operation", count, 1, RdmaSgeList.MAX_CAPACITY);
        return this;
    }

    /**
     * Sets the maximum number of parts of a receive.
     *
     * @param count 1 to {@link RdmaSgeList#MAX_CAPACITY}
     * @return this
     * @throws IllegalArgumentException if out of range
     */
    public RdmaQpInitAttr maxRecvSge(int count) {
        maxRecvSge = checked("parts of a receive", count, 1, RdmaSgeList.MAX_CAPACITY);
        return this;
    }

    /**
     * Sets the maximum number of bytes of an inline post.
     *
     * @param bytes 0 or more
     * @return this
     * @throws IllegalArgumentException if negative
     */
    public RdmaQpInitAttr maxInlineData(int bytes) {
        maxInlineData = checked("inline bytes", bytes, 0, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Sets whether each operation has a completion, regardless of {@link RdmaQp#F_SIGNALED}.
     *
     * @param all true for a completion of each operation
     * @return this
     */
    public RdmaQpInitAttr sigAll(boolean all) {
        sigAll = all;
        return this;
    }

    /**
     * Sets the shared receive queue. It belongs to the id of the queue pair or to another id of the same device. The
     * other id can't be closed before the id of the queue pair.
     *
     * @param queue the shared receive queue, or null for none
     * @return this
     */
    public RdmaQpInitAttr srq(RdmaSrq queue) {
        srq = queue;
        return this;
    }

    private static int checked(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "the number of " + name + " must be " + least + " to " + most + ", not " + value);
        }
        return value;
    }

    RdmaSrq srq() {
        return srq;
    }

    boolean sigAll() {
        return sigAll;
    }

    /** The numbers for native/rdmacm_qp.c, which returns what was granted, the parts of a read, and the queue pair's number. */
    int[] numbers() {
        return new int[] {maxSendWr, maxRecvWr, maxSendSge, maxRecvSge, maxInlineData, 0, 0};
    }

    @Override
    public String toString() {
        return "RdmaQpInitAttr[maxSendWr=" + maxSendWr + ", maxRecvWr=" + maxRecvWr + ", maxSendSge=" + maxSendSge
                + ", maxRecvSge=" + maxRecvSge + ", maxInlineData=" + maxInlineData + ", sigAll=" + sigAll + ", srq="
                + srq + "]";
    }
}
