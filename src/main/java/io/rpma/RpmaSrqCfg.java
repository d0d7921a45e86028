// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.lang.annotation.Native;

/**
 * The configuration of a shared receive queue: its size, and the size of its completion queue.
 *
 * <pre>{@code
 * try (RpmaSrqCfg cfg = RpmaSrqCfg.create().setRqSize(256).setRcqSize(256);
 *         RpmaSrq shared = RpmaSrq.create(peer, cfg)) {
 *     shared.recv(local, 0, 64, 1);
 * }
 * }</pre>
 *
 * <p>A configuration is read when a queue is made ({@link RpmaSrq#create}). Later changes, and its close, do not affect
 * that queue. Devices round sizes up. Safe for use by many threads.
 *
 * <p>Manual pages: rpma_srq_cfg_new(3), rpma_srq_cfg_set_rq_size(3), rpma_srq_cfg_set_rcq_size(3).
 */
public final class RpmaSrqCfg implements AutoCloseable {
    @Native
    private static final int RQ_SIZE = 0;

    @Native
    private static final int RCQ_SIZE = 1;

    private static final ObjectKind KIND = new ObjectKind("rpma_srq_cfg_delete") {
        @Override
        protected long delete(Resource object) {
            return Natives.srqCfgDelete(object.handle());
        }
    };

    private final Resource object;

    private RpmaSrqCfg() {
        object = new Resource(this, "RpmaSrqCfg", KIND);
    }

    /**
     * Creates a configuration with librpma's defaults: 20 entries in each queue.
     *
     * @return the configuration; the caller closes it
     * @throws RpmaException if out of memory
     */
    public static RpmaSrqCfg create() {
        RpmaSrqCfg cfg = new RpmaSrqCfg();
        cfg.object.made("rpma_srq_cfg_new", Natives.srqCfgNew());
        return cfg;
    }

    /**
     * Sets the size of the receive queue: the maximum number of outstanding receives.
     *
     * @param size the number of receives, at least 1
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaSrqCfg setRqSize(int size) {
        Check.queueSize("shared receive", size, 1);
        Call.check("rpma_srq_cfg_set_rq_size", Natives.srqCfgSetSize(object.handle(), RQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the receive queue}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getRqSize() {
        return (int) Call.check("rpma_srq_cfg_get_rq_size", Natives.srqCfgGetSize(object.handle(), RQ_SIZE), object);
    }

    /**
     * Sets the size of the completion queue for receives: {@code rcqSize >= rqSize}, for the same reasons as in
     * {@link RpmaConnCfg#setCqSize}.
     *
     * @param size the number of completions; 0 for no such queue: the receives that a connection takes then complete in
     *     the queues of that connection
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaSrqCfg setRcqSize(int size) {
        Check.queueSize("receive completion", size, 0);
        Call.check("rpma_srq_cfg_set_rcq_size", Natives.srqCfgSetSize(object.handle(), RCQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the completion queue for receives; 0 if there is none}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getRcqSize() {
        return (int) Call.check("rpma_srq_cfg_get_rcq_size", Natives.srqCfgGetSize(object.handle(), RCQ_SIZE), object);
    }

    Resource object() {
        return object;
    }

    /** Closes the configuration. Has no effect if it is already closed. Waits while another thread closes it. */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(object.whileOpen(() -> "rqSize=" + getRqSize() + ", rcqSize=" + getRcqSize()));
    }
}
