package io.rpma.rdmacm;

/**
 * What a queue pair is asked for: {@code struct ibv_qp_init_attr}. The device may grant more: see {@link RdmaQp}.
 *
 * <p>A plain object, not for use by several threads at once. It is read when a queue pair is made.
 *
 * <p>Manual page: rdma_create_qp(3), ibv_create_qp(3).
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

    /** The same for the ids of a listener, whatever becomes of the original. */
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
     * Sets how many operations can be under way, and how many completions their queue holds.
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
     * Sets how many receives can be posted, and how many completions their queue holds; with a shared receive queue only
     * the latter.
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
     * Sets of how many parts the local memory of an operation can consist.
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
     * Sets of how many parts the memory of a receive can consist.
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
     * Sets how many bytes can be posted inline.
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
     * Sets whether every operation has a completion, with {@link RdmaQp#F_SIGNALED} or without.
     *
     * @param all whether every one has
     * @return this
     */
    public RdmaQpInitAttr sigAll(boolean all) {
        sigAll = all;
        return this;
    }

    /**
     * Sets the shared receive queue, of this id or of another one on the same device, which can't be closed before this one.
     *
     * @param queue the queue, or null for none
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

    /** The numbers of native/rdmacm_qp.c, with room for the queue pair's. */
    int[] numbers() {
        return new int[] {maxSendWr, maxRecvWr, maxSendSge, maxRecvSge, maxInlineData, 0};
    }
}
