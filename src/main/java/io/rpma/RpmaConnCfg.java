package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * How a connection is made: its queues and the time for its resolution.
 *
 * <p>Read when a request is made ({@link RpmaConnReq#create} and {@link RpmaEp#nextConnReq}); later changes and closing
 * do not affect it. Devices round sizes up. Safe for use by many threads.
 *
 * <p>Manual pages: rpma_conn_cfg_new(3), rpma_conn_cfg_set_timeout(3), rpma_conn_cfg_set_cq_size(3),
 * rpma_conn_cfg_set_sq_size(3), rpma_conn_cfg_set_rq_size(3), rpma_conn_cfg_set_rcq_size(3),
 * rpma_conn_cfg_set_compl_channel(3), rpma_conn_cfg_set_srq(3).
 */
public final class RpmaConnCfg implements AutoCloseable {
    // native/conn_cfg.c has the same
    private static final int CQ_SIZE = 0;
    private static final int SQ_SIZE = 1;
    private static final int RQ_SIZE = 2;
    private static final int RCQ_SIZE = 3;

    private final NativeObject object;

    /** Read while a request is made: librpma keeps a pointer to the shared receive queue, which must not change then. */
    private final ReentrantReadWriteLock inUse = new ReentrantReadWriteLock();

    private RpmaSrq srq;

    private RpmaConnCfg() {
        object = new NativeObject(this, "RpmaConnCfg");
    }

    /**
     * Creates a configuration with librpma's defaults: a timeout of 1000 ms, 10 entries in each queue,
     * and neither a completion queue for receives alone, nor a shared channel, nor a shared receive queue.
     *
     * <p>The completion queue has room for fewer completions than the other two queues can have outstanding together: see
     * {@link #setCqSize}.
     *
     * @return the configuration, to be closed
     * @throws RpmaException if out of memory
     */
    public static RpmaConnCfg create() {
        RpmaConnCfg cfg = new RpmaConnCfg();
        cfg.object.made("rpma_conn_cfg_new", Natives.connCfgNew());
        return cfg;
    }

    /**
     * Sets how long the resolution of the address, and then that of the route, may take. In no time nothing is resolved:
     * with 0, which librpma takes, requests fail.
     *
     * @param timeoutMs in milliseconds, 0 or more
     * @return this
     * @throws IllegalArgumentException if {@code timeoutMs} is negative
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeoutMs);
        }
        Call.check("rpma_conn_cfg_set_timeout", Natives.connCfgSetTimeout(object.handle(), timeoutMs), object);
        return this;
    }

    /**
     * {@return the timeout of the resolutions in milliseconds}
     *
     * @throws IllegalStateException if closed
     */
    public int getTimeout() {
        return (int) Call.check("rpma_conn_cfg_get_timeout", Natives.connCfgGetTimeout(object.handle()), object);
    }

    /**
     * Sets the size of the completion queue. It must hold the completions of everything that can be outstanding, which
     * nothing checks: a queue that overflows breaks the connection, or loses completions without a word (soft-RoCE).
     *
     * @param size in completions, at least 1
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setCqSize(int size) {
        Check.queueSize("completion", size, 1);
        Call.check("rpma_conn_cfg_set_cq_size", Natives.connCfgSetSize(object.handle(), CQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the completion queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getCqSize() {
        return (int) Call.check("rpma_conn_cfg_get_cq_size", Natives.connCfgGetSize(object.handle(), CQ_SIZE), object);
    }

    /**
     * Sets the size of the send queue: how many reads, writes, flushes and sends can be outstanding. Its room is given
     * back only when a completion of that operation or of a later one is polled.
     *
     * @param size in operations, at least 1
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setSqSize(int size) {
        Check.queueSize("send", size, 1);
        Call.check("rpma_conn_cfg_set_sq_size", Natives.connCfgSetSize(object.handle(), SQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the send queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getSqSize() {
        return (int) Call.check("rpma_conn_cfg_get_sq_size", Natives.connCfgGetSize(object.handle(), SQ_SIZE), object);
    }

    /**
     * Sets the size of the receive queue: how many receives can be outstanding. Has no effect if the connection uses
     * a shared receive queue.
     *
     * @param size in receives, 0 or more
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setRqSize(int size) {
        Check.queueSize("receive", size, 0);
        Call.check("rpma_conn_cfg_set_rq_size", Natives.connCfgSetSize(object.handle(), RQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the receive queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getRqSize() {
        return (int) Call.check("rpma_conn_cfg_get_rq_size", Natives.connCfgGetSize(object.handle(), RQ_SIZE), object);
    }

    /**
     * Sets the size of a completion queue for receives alone.
     *
     * @param size in completions; 0 for none: the completions of receives are in the queue of all then. Has no effect if
     *     the connection uses a shared receive queue with a completion queue of its own
     * @return this
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setRcqSize(int size) {
        Check.queueSize("receive completion", size, 0);
        Call.check("rpma_conn_cfg_set_rcq_size", Natives.connCfgSetSize(object.handle(), RCQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the completion queue for receives alone; 0 for none}
     *
     * @throws IllegalStateException if closed
     */
    public int getRcqSize() {
        return (int)
                Call.check("rpma_conn_cfg_get_rcq_size", Natives.connCfgGetSize(object.handle(), RCQ_SIZE), object);
    }

    /**
     * Sets whether the connection's completion queues share one channel, so that {@link RpmaConn#await} waits for both.
     *
     * <p>Does not go with a shared receive queue that has a completion queue of its own. Waits for requests that are
     * being made with this configuration, also for those that begin meanwhile.
     *
     * @param shared whether they do
     * @return this
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setComplChannel(boolean shared) {
        Call.check(
                "rpma_conn_cfg_set_compl_channel",
                Call.locked(inUse.writeLock(), () -> Natives.connCfgSetComplChannel(object.handle(), shared)),
                object);
        return this;
    }

    /**
     * {@return whether the connection's completion queues share one channel}
     *
     * @throws IllegalStateException if closed
     */
    public boolean getComplChannel() {
        return Call.check("rpma_conn_cfg_get_compl_channel", Natives.connCfgGetComplChannel(object.handle()), object)
                != 0;
    }

    /**
     * Sets the shared receive queue that the connection uses. It can be replaced by another one, but not by none.
     *
     * <p>Waits for requests that are being made with this configuration, also for those that begin meanwhile.
     *
     * @param srq the queue, of the connection's peer
     * @return this
     * @throws IllegalStateException if this or {@code srq} is closed
     */
    public RpmaConnCfg setSrq(RpmaSrq srq) {
        Objects.requireNonNull(srq, "srq");
        Call.check(
                "rpma_conn_cfg_set_srq", Call.locked(inUse.writeLock(), () -> exchangeSrq(srq)), object, srq.object());
        return this;
    }

    private int exchangeSrq(RpmaSrq next) {
        int result = Natives.connCfgSetSrq(object.handle(), next.object().handle());
        if (result == 0) {
            srq = next;
        }
        return result;
    }

    /**
     * {@return the shared receive queue that the connection uses; empty if none is set}
     *
     * @throws IllegalStateException if closed
     */
    public Optional<RpmaSrq> getSrq() {
        long set;
        RpmaSrq current;
        lockUnchanged();
        try {
            set = Natives.connCfgGetSrq(object.handle());
            current = srq;
        } finally {
            inUse.readLock().unlock();
        }
        return Call.check("rpma_conn_cfg_get_srq", set, object) != 0 ? Optional.of(current) : Optional.empty();
    }

    /**
     * Keeps a configuration as it is while a request is made with it.
     *
     * @param cfg the configuration, or null for the defaults
     * @param peer the peer of the connection
     * @throws IllegalStateException if {@code cfg} or its shared receive queue is closed
     * @throws IllegalArgumentException if what is set does not go together
     */
    static Use use(RpmaConnCfg cfg, RpmaPeer peer) {
        return new Use(cfg, peer);
    }

    /**
     * A configuration while a request is made with it. Messages must not be delivered meanwhile: a user's function may
     * change the configuration.
     */
    static final class Use implements AutoCloseable {
        private final RpmaConnCfg cfg;

        private Use(RpmaConnCfg cfg, RpmaPeer peer) {
            this.cfg = cfg;
            if (cfg == null) {
                return;
            }
            cfg.lockUnchanged();
            boolean usable = false;
            try {
                cfg.check(peer);
                usable = true;
            } finally {
                if (!usable) {
                    cfg.inUse.readLock().unlock();
                }
            }
        }

        /** The native handle, 0 for the defaults. */
        long handle() {
            return cfg == null ? 0 : cfg.object.handle();
        }

        /** The shared receive queue, or null. */
        RpmaSrq srq() {
            return cfg == null ? null : cfg.srq;
        }

        @Override
        public void close() {
            if (cfg != null) {
                cfg.inUse.readLock().unlock();
            }
        }
    }

    /** Overtakes a change that waits for a request of another thread, whose resolution may take long. */
    private void lockUnchanged() {
        while (!inUse.readLock().tryLock()) {
            // a change under way takes no time, one that waits would
            Thread.onSpinWait();
        }
    }

    private void check(RpmaPeer peer) {
        object.checkOpen();
        if (srq == null) {
            return;
        }
        srq.object().checkOpen();
        Objects.requireNonNull(peer, "peer");
        if (srq.peer() != peer) {
            throw new IllegalArgumentException(srq + " belongs to " + srq.peer() + " and not to " + peer);
        }
        // librpma would refuse it, but an endpoint would not tell that from a client that has given up
        if (Natives.connCfgGetComplChannel(object.handle()) > 0 && srq.getRcq().isPresent()) {
            throw new IllegalArgumentException("a shared completion channel does not go with " + srq
                    + ", whose receives have a completion queue of their own");
        }
    }

    /**
     * Closes the configuration; does nothing if it is closed already. Waits for requests that are being made with it.
     */
    @Override
    public void close() {
        // once it is closed no request begins any more, so that those under way are all that this waits for
        object.close("rpma_conn_cfg_delete", this::delete);
    }

    private long delete(long handle) {
        inUse.writeLock().lock();
        try {
            return Natives.connCfgDelete(handle);
        } finally {
            inUse.writeLock().unlock();
        }
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
