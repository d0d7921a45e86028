// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.lang.annotation.Native;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The configuration of a connection: the sizes of its queues, and the timeout of its resolution.
 *
 * <pre>{@code
 * try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(64).setRqSize(16).setCqSize(64 + 16);
 *         RpmaConn conn = RpmaConnReq.create(peer, address, port, cfg).connect()) {
 *     System.out.println(conn.nextEvent());
 * }
 * }</pre>
 *
 * <p>A configuration is read when a request is made ({@link RpmaConnReq#create} and {@link RpmaEp#nextConnReq}). Later
 * changes, and its close, do not affect that request. Devices round sizes up. Safe for use by many threads.
 *
 * <p>Manual pages: rpma_conn_cfg_new(3), rpma_conn_cfg_set_timeout(3), rpma_conn_cfg_set_cq_size(3),
 * rpma_conn_cfg_set_sq_size(3), rpma_conn_cfg_set_rq_size(3), rpma_conn_cfg_set_rcq_size(3),
 * rpma_conn_cfg_set_compl_channel(3), rpma_conn_cfg_set_srq(3).
 */
public final class RpmaConnCfg implements AutoCloseable {
    @Native
    private static final int CQ_SIZE = 0;

    @Native
    private static final int SQ_SIZE = 1;

    @Native
    private static final int RQ_SIZE = 2;

    @Native
    private static final int RCQ_SIZE = 3;

    private static final ObjectKind KIND = new ObjectKind("rpma_conn_cfg_delete") {
        @Override
        protected long delete(Resource cfg) {
            return Natives.connCfgDelete(cfg.handle());
        }
    };

    private final Resource object;

    /**
     * Locked for reading while a request is made: librpma keeps a pointer to the shared receive queue, which must not
     * change meanwhile.
     */
    private final ReentrantReadWriteLock inUse = new ReentrantReadWriteLock();

    private RpmaSrq srq;

    private RpmaConnCfg() {
        object = new Resource(this, "RpmaConnCfg", KIND);
    }

    /**
     * Creates a configuration with librpma's defaults: a timeout of 1000 ms; 10 entries in the completion queue, the
     * send queue and the receive queue; no separate completion queue for receives, no shared channel, and no shared
     * receive queue.
     *
     * <p>The default completion queue is too small for programs that fill both other queues: 10 is less than 10 + 10.
     * See {@link #setCqSize}.
     *
     * @return the configuration; the caller closes it
     * @throws RpmaException if out of memory
     */
    public static RpmaConnCfg create() {
        RpmaConnCfg cfg = new RpmaConnCfg();
        cfg.object.made("rpma_conn_cfg_new", Natives.connCfgNew());
        return cfg;
    }

    /**
     * Sets the timeout of each of two resolutions: of the address, and of the route. Both together take at most
     * {@code 2 * timeoutMs}. librpma accepts 0, but requests then fail.
     *
     * @param timeoutMs the timeout in milliseconds, 0 or more
     * @return this object
     * @throws IllegalArgumentException if {@code timeoutMs} is negative
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeoutMs);
        }
        Call.check("rpma_conn_cfg_set_timeout", Natives.connCfgSetTimeout(object.handle(), timeoutMs), object);
        return this;
    }

    /**
     * {@return the timeout of each resolution in milliseconds}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getTimeout() {
        return (int) Call.check("rpma_conn_cfg_get_timeout", Natives.connCfgGetTimeout(object.handle()), object);
    }

    /**
     * Sets the size of the completion queue. It must have room for the completions of all operations and receives that
     * can be outstanding:
     *
     * <ul>
     *   <li>{@code cqSize >= sqSize + rqSize} if receives complete in this queue;
     *   <li>{@code cqSize >= sqSize} if receives have their own completion queue ({@link #setRcqSize},
     *       {@link RpmaSrqCfg#setRcqSize}).
     * </ul>
     *
     * <p>With a shared receive queue, {@code rqSize} is the size of that queue ({@link RpmaSrqCfg#setRqSize}), because
     * one connection may take all receives of the queue. Operations that are posted without
     * {@link RpmaConn#F_COMPLETION_ALWAYS} count too, because they have completions when the connection breaks.
     *
     * <p>Neither librpma nor this library checks the size. A queue that overflows breaks the connection; on soft-RoCE
     * it silently loses completions. A post that succeeds does not prove that the completion queue has room: devices
     * round the sizes of the other queues up, and soft-RoCE frees the place of an operation before its completion is
     * polled. Never have more completions outstanding than the queue holds.
     *
     * @param size the number of completions, at least 1
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setCqSize(int size) {
        Check.queueSize("completion", size, 1);
        Call.check("rpma_conn_cfg_set_cq_size", Natives.connCfgSetSize(object.handle(), CQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the completion queue}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getCqSize() {
        return (int) Call.check("rpma_conn_cfg_get_cq_size", Natives.connCfgGetSize(object.handle(), CQ_SIZE), object);
    }

    /**
     * Sets the size of the send queue: the maximum number of outstanding reads, writes, flushes and sends.
     *
     * <p>An operation can occupy its place in the queue until a completion of this or a later operation is polled.
     * Therefore, of each {@code sqSize} successive operations, post at least one with
     * {@link RpmaConn#F_COMPLETION_ALWAYS}.
     *
     * @param size the number of operations, at least 1
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setSqSize(int size) {
        Check.queueSize("send", size, 1);
        Call.check("rpma_conn_cfg_set_sq_size", Natives.connCfgSetSize(object.handle(), SQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the send queue}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getSqSize() {
        return (int) Call.check("rpma_conn_cfg_get_sq_size", Natives.connCfgGetSize(object.handle(), SQ_SIZE), object);
    }

    /**
     * Sets the size of the receive queue: the maximum number of outstanding receives. Has no effect if the connection
     * uses a shared receive queue.
     *
     * @param size the number of receives, 0 or more
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setRqSize(int size) {
        Check.queueSize("receive", size, 0);
        Call.check("rpma_conn_cfg_set_rq_size", Natives.connCfgSetSize(object.handle(), RQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the receive queue}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getRqSize() {
        return (int) Call.check("rpma_conn_cfg_get_rq_size", Natives.connCfgGetSize(object.handle(), RQ_SIZE), object);
    }

    /**
     * Sets the size of a separate completion queue for receives: {@code rcqSize >= rqSize}, for the same reasons as in
     * {@link #setCqSize}. Has no effect if the connection uses a shared receive queue with its own completion queue.
     *
     * @param size the number of completions; 0 for no separate queue: receives then complete in
     *     {@link RpmaConn#getCq()}
     * @return this object
     * @throws IllegalArgumentException if {@code size} is too small
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setRcqSize(int size) {
        Check.queueSize("receive completion", size, 0);
        Call.check("rpma_conn_cfg_set_rcq_size", Natives.connCfgSetSize(object.handle(), RCQ_SIZE, size), object);
        return this;
    }

    /**
     * {@return the size of the separate completion queue for receives; 0 if there is none}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getRcqSize() {
        return (int)
                Call.check("rpma_conn_cfg_get_rcq_size", Natives.connCfgGetSize(object.handle(), RCQ_SIZE), object);
    }

    /**
     * Sets whether the connection's completion queues share one completion channel, so that {@link RpmaConn#await}
     * waits for both.
     *
     * <p>Can't be combined with a shared receive queue that has its own completion queue. Blocks while requests are
     * made with this configuration, including requests that begin while this call blocks.
     *
     * @param shared whether the queues share one channel
     * @return this object
     * @throws IllegalStateException if this object is closed
     */
    public RpmaConnCfg setComplChannel(boolean shared) {
        Call.check(
                "rpma_conn_cfg_set_compl_channel",
                Call.locked(inUse.writeLock(), () -> Natives.connCfgSetComplChannel(object.handle(), shared)),
                object);
        return this;
    }

    /**
     * {@return whether the connection's completion queues share one completion channel}
     *
     * @throws IllegalStateException if this object is closed
     */
    public boolean getComplChannel() {
        return Call.check("rpma_conn_cfg_get_compl_channel", Natives.connCfgGetComplChannel(object.handle()), object)
                != 0;
    }

    /**
     * Sets the shared receive queue of the connection. It can be replaced by another queue, but not removed.
     *
     * <p>Blocks while requests are made with this configuration, including requests that begin while this call blocks.
     *
     * @param srq the queue, which must belong to the connection's peer
     * @return this object
     * @throws IllegalStateException if this configuration or {@code srq} is closed
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
     * {@return the shared receive queue of the connection, which may be closed; empty if none is set}
     *
     * @throws IllegalStateException if this object is closed
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
     * Keeps a configuration unchanged while a request is made with it.
     *
     * @param cfg the configuration, or null for the defaults
     * @param peer the peer of the connection
     * @throws IllegalStateException if {@code cfg} or its shared receive queue is closed
     * @throws IllegalArgumentException if the shared receive queue belongs to another peer, or can't be combined with
     *     the shared channel
     */
    static Use use(RpmaConnCfg cfg, RpmaPeer peer) {
        return new Use(cfg, peer);
    }

    /** A configuration that stays unchanged while a request is made with it. */
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

        /**
         * Returns the result of a native call with this handle, or fails if the configuration was closed before the
         * call.
         */
        long checkOpen(long result) {
            if (result == Result.CLOSED && cfg != null) {
                cfg.object.checkOpen();
            }
            return result;
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

    /**
     * Takes the read lock even if a change waits for the write lock. The change can wait for seconds, until a request
     * of another thread is resolved, and must not delay other requests.
     */
    private void lockUnchanged() {
        while (!inUse.readLock().tryLock()) {
            // tryLock fails only during a change, which is short
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
        // librpma refuses this combination only after it has taken a request, which is then rejected
        if (Natives.connCfgGetComplChannel(object.handle()) > 0 && srq.getRcq().isPresent()) {
            throw new IllegalArgumentException("a shared completion channel does not go with " + srq
                    + ", whose receives have a completion queue of their own");
        }
    }

    /**
     * Closes the configuration. Has no effect if it is already closed. Waits while another thread closes it. Waits for
     * the requests that are being made with it.
     */
    @Override
    public void close() {
        object.close();
    }

    Resource object() {
        return object;
    }

    @Override
    public String toString() {
        return object.describe(
                object.whileOpen(() -> "timeout=" + getTimeout() + " ms, cqSize=" + getCqSize() + ", sqSize="
                        + getSqSize() + ", rqSize=" + getRqSize() + ", rcqSize=" + getRcqSize() + ", complChannel="
                        + getComplChannel()),
                srq);
    }
}
