// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * An address handle, the destination of datagrams: {@code struct ibv_ah}. {@link RdmaId#createAh} creates it.
 *
 * <p>A client with an id for {@link RdmaPortSpace#UDP} sends a datagram to the server that has accepted its request:
 *
 * <pre>{@code
 * RdmaEvent established = id.awaitEvent(RdmaEventType.ESTABLISHED, 5, TimeUnit.SECONDS);
 * try (RdmaAh server = id.createAh(established)) {
 *     qp.postUdSend(mr, 0, 64, RdmaQp.F_SIGNALED, server, established.qpNum(), 1);
 *     qp.getSendComp(completions);
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. An address handle must be closed before its id, and after the completions of the
 * datagrams that were posted with it.
 *
 * <p>Manual pages: ibv_create_ah(3), ibv_create_ah_from_wc(3).
 */
public final class RdmaAh implements AutoCloseable {
    private static final ObjectKind KIND = new ObjectKind("ibv_destroy_ah") {
        @Override
        protected long delete(Resource object) {
            return Natives.ahDestroy(object.handle());
        }
    };

    private final Resource object;

    /** A copy of the handle, which saves an indirection in each post. */
    private long handle;

    private RdmaAh(Resource owner) {
        object = new Resource(this, "RdmaAh", KIND, owner);
    }

    /**
     * Creates an address handle.
     *
     * @param owner the id that the address handle belongs to
     * @param operation the C function, for messages
     * @param maker returns the native handle, or an error
     */
    static RdmaAh make(Resource owner, String operation, LongSupplier maker) {
        RdmaAh ah = new RdmaAh(owner);
        ah.object.make(operation, maker);
        ah.handle = ah.object.handle();
        VarHandle.releaseFence();
        return ah;
    }

    /**
     * Returns the native handle. Part of the hot path.
     *
     * @throws NullPointerException if the address handle is null; checked explicitly, because the exception of compiled
     *     code has no message
     */
    static long use(RdmaAh ah) {
        if (ah == null) {
            throw Check.isNull("address handle");
        }
        return ah.handle;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the address handle. Has no effect if it is already closed. Waits while another thread closes it.
     *
     * @throws io.rpma.RpmaException if the device reports a failure; the address handle is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe();
    }
}
