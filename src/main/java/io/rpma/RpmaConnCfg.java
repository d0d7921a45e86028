package io.rpma;

/**
 * How a connection is made: the sizes of its queues and the time for its resolution.
 *
 * <p>Read when a request is made ({@link RpmaConnReq#create} and {@link RpmaEp#nextConnReq}); later changes and closing
 * do not affect it. Devices round sizes up. Safe for use by many threads.
 *
 * <p>Manual pages: rpma_conn_cfg_new(3), rpma_conn_cfg_set_timeout(3), rpma_conn_cfg_set_cq_size(3),
 * rpma_conn_cfg_set_sq_size(3), rpma_conn_cfg_set_rq_size(3).
 */
public final class RpmaConnCfg implements AutoCloseable {
    private final Handle handle;

    private RpmaConnCfg(Handle handle) {
        this.handle = handle;
        handle.watch(this);
    }

    /**
     * Creates a configuration with librpma's defaults: a timeout of 1000 ms and 10 entries in each queue.
     *
     * @return the configuration, to be closed
     * @throws RpmaException if out of memory
     */
    public static RpmaConnCfg create() {
        return new RpmaConnCfg(new Handle("RpmaConnCfg").opened("rpma_conn_cfg_new", Natives.connCfgNew()));
    }

    /**
     * Sets how long the resolution of the address, and then that of the route, may take.
     *
     * @param timeoutMs in milliseconds, 0 or more
     * @return this
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeoutMs);
        }
        Call.check("rpma_conn_cfg_set_timeout", Natives.connCfgSetTimeout(handle.id(), timeoutMs), handle);
        return this;
    }

    /**
     * {@return the timeout of the resolutions in milliseconds}
     *
     * @throws IllegalStateException if closed
     */
    public int getTimeout() {
        return (int) Call.check("rpma_conn_cfg_get_timeout", Natives.connCfgGetTimeout(handle.id()), handle);
    }

    /**
     * Sets the size of the completion queue. It must hold the completions of everything that can be outstanding: a queue
     * that overflows breaks the connection.
     *
     * @param size in completions, at least 1
     * @return this
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setCqSize(int size) {
        checkSize("completion", size, 1);
        Call.check("rpma_conn_cfg_set_cq_size", Natives.connCfgSetCqSize(handle.id(), size), handle);
        return this;
    }

    /**
     * {@return the size of the completion queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getCqSize() {
        return (int) Call.check("rpma_conn_cfg_get_cq_size", Natives.connCfgGetCqSize(handle.id()), handle);
    }

    /**
     * Sets the size of the send queue: how many reads, writes, flushes and sends can be outstanding. Its room is given
     * back only when a completion of that operation or of a later one is polled.
     *
     * @param size in operations, at least 1
     * @return this
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setSqSize(int size) {
        checkSize("send", size, 1);
        Call.check("rpma_conn_cfg_set_sq_size", Natives.connCfgSetSqSize(handle.id(), size), handle);
        return this;
    }

    /**
     * {@return the size of the send queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getSqSize() {
        return (int) Call.check("rpma_conn_cfg_get_sq_size", Natives.connCfgGetSqSize(handle.id()), handle);
    }

    /**
     * Sets the size of the receive queue: how many receives can be outstanding.
     *
     * @param size in receives, 0 or more
     * @return this
     * @throws IllegalStateException if closed
     */
    public RpmaConnCfg setRqSize(int size) {
        checkSize("receive", size, 0);
        Call.check("rpma_conn_cfg_set_rq_size", Natives.connCfgSetRqSize(handle.id(), size), handle);
        return this;
    }

    /**
     * {@return the size of the receive queue}
     *
     * @throws IllegalStateException if closed
     */
    public int getRqSize() {
        return (int) Call.check("rpma_conn_cfg_get_rq_size", Natives.connCfgGetRqSize(handle.id()), handle);
    }

    private static void checkSize(String queue, int size, int least) {
        if (size < least) {
            throw new IllegalArgumentException("a " + queue + " queue has at least " + least + " entries, not " + size);
        }
    }

    /** The native handle for a call that takes a configuration or, as null, the defaults. */
    static long idOf(RpmaConnCfg cfg) {
        if (cfg == null) {
            return 0;
        }
        cfg.handle.checkOpen();
        return cfg.handle.id();
    }

    /** Closes the configuration; does nothing if it is closed already. */
    @Override
    public void close() {
        handle.close("rpma_conn_cfg_delete", Natives::connCfgDelete);
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
