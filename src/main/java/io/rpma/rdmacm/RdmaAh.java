package io.rpma.rdmacm;

import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * Where a datagram goes: {@code struct ibv_ah}; made by {@link RdmaId#createAh}.
 *
 * <p>Safe for use by many threads. It has to be closed before its id, and not before the completions of what was sent with
 * it.
 *
 * <p>Manual pages: ibv_create_ah(3), ibv_create_ah_from_wc(3).
 */
public final class RdmaAh implements AutoCloseable {
    private final NativeObject object;

    /** Set when it is made. */
    private long handle;

    private RdmaAh(NativeObject owner) {
        object = new NativeObject(this, "RdmaAh", owner);
    }

    /**
     * Makes one.
     *
     * @param owner the id that it belongs to
     */
    static RdmaAh make(NativeObject owner, String operation, LongSupplier maker) {
        RdmaAh ah = new RdmaAh(owner);
        ah.object.make(operation, maker);
        ah.handle = ah.object.handle();
        VarHandle.releaseFence();
        return ah;
    }

    long handle() {
        return handle;
    }

    NativeObject object() {
        return object;
    }

    /**
     * Closes it; does nothing if it is closed already.
     *
     * @throws io.rpma.RpmaException if the device reports a failure; it is closed all the same
     */
    @Override
    public void close() {
        object.close("ibv_destroy_ah", Natives::ahDestroy);
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
