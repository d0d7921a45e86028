package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;

/**
 * How a shared receive queue is made: its size and that of its completion queue.
 *
 * <p>Read when the queue is made ({@link RpmaSrq#create}); later changes and closing do not affect it. Devices round sizes
 * up. Safe for use by many threads.
 *
 * <p>Manual pages: rpma_srq_cfg_new(3), rpma_srq_cfg_set_rq_size(3), rpma_srq_cfg_set_rcq_size(3).
 */
public final class RpmaSrqCfg implements AutoCloseable {
    // native/srq_cfg.c has the same
    private static final int RQ_SIZE = 0;
    private static final int RCQ_SIZE = 1;

    private final NativeObject object;

    private RpmaSrqCfg() {
        object = new NativeObject(this, "RpmaSrqCfg");
    }

    /**
     * Creates a configuration with librpma's defaults: 20 entries in each queue.
     *
     * @return the configuration, to be closed
     * @throws RpmaException if out of memory
     */
    public static RpmaSrqCfg create() {
        RpmaSrqCfg cfg = new RpmaSrqCfg();
        cfg.object.made("rpma_srq_cfg_new", Natives.srqCfgNew());
        return cfg;
    }

    /**
     * Sets the size of the receive queue: how many receives can be outstanding.
     *
     * @param size in receives, at least 1
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaSrqCfg setRqSize(int size) {
        Check.queueSize("shared receive", size, 1);
        Call.check("rpma_srq_cfg_set_rq_size", Natives.srqCfgSetSize(object.handle(), RQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the receive queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getRqSize() {
        return (int) Call.check("rpma_srq_cfg_get_rq_size", Natives.srqCfgGetSize(object.handle(), RQ_SIZE), object);
    }

    /**
     * Sets the size of the completion queue of the receives.
     *
     * @param size in completions; 0 for none: the completions of a connection's receives are in the connection's own
     *     queues then
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaSrqCfg setRcqSize(int size) {
        Check.queueSize("receive completion", size, 0);
        Call.check("rpma_srq_cfg_set_rcq_size", Natives.srqCfgSetSize(object.handle(), RCQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the completion queue of the receives; 0 for none}
     *
     * @throws IllegalStateException if closed
     */
    public int getRcqSize() {
        return (int) Call.check("rpma_srq_cfg_get_rcq_size", Natives.srqCfgGetSize(object.handle(), RCQ_SIZE), object);
    }

    NativeObject object() {
        return object;
    }

    /** Closes the configuration; does nothing if it is closed already. */
    @Override
    public void close() {
        object.close("rpma_srq_cfg_delete", Natives::srqCfgDelete);
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
