// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.nio.ByteBuffer;

/**
 * The properties of a peer's platform that the other side needs for persistent flushes.
 *
 * <pre>{@code
 * try (RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
 *     RpmaConn accepted = request.connect(cfg.getDescriptor());
 * }
 * // the other side, once it has taken ESTABLISHED
 * try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(conn.getPrivateData())) {
 *     conn.applyRemotePeerCfg(cfg);
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads.
 *
 * <p>Manual pages: rpma_peer_cfg_new(3), rpma_peer_cfg_set_direct_write_to_pmem(3),
 * rpma_peer_cfg_get_descriptor(3), rpma_peer_cfg_from_descriptor(3).
 */
public final class RpmaPeerCfg implements AutoCloseable {
    /** The size of a descriptor in bytes. */
    public static final int DESCRIPTOR_SIZE = 1;

    private static final ObjectKind KIND = new ObjectKind("rpma_peer_cfg_delete") {
        @Override
        protected long delete(Resource object) {
            return Natives.peerCfgDelete(object.handle());
        }
    };

    private final Resource object;

    private RpmaPeerCfg() {
        object = new Resource(this, "RpmaPeerCfg", KIND);
    }

    /**
     * Creates a configuration without direct write to persistent memory.
     *
     * @return the configuration; the caller closes it
     * @throws RpmaException if out of memory
     */
    public static RpmaPeerCfg create() {
        RpmaPeerCfg cfg = new RpmaPeerCfg();
        cfg.object.made("rpma_peer_cfg_new", Natives.peerCfgNew());
        return cfg;
    }

    /**
     * Makes a configuration from its descriptor.
     *
     * @param descriptor at least {@link #DESCRIPTOR_SIZE} bytes; further bytes are ignored
     * @return the configuration; the caller closes it
     * @throws IllegalArgumentException if there are too few bytes
     * @throws RpmaException if out of memory
     */
    public static RpmaPeerCfg fromDescriptor(byte[] descriptor) {
        return fromDescriptor(ByteBuffer.wrap(descriptor));
    }

    /**
     * Makes a configuration from the next bytes of a buffer, and advances the position of the buffer.
     *
     * @param descriptor at least {@link #DESCRIPTOR_SIZE} remaining bytes
     * @return the configuration; the caller closes it
     * @throws IllegalArgumentException if there are too few bytes
     * @throws RpmaException if out of memory
     */
    public static RpmaPeerCfg fromDescriptor(ByteBuffer descriptor) {
        Check.descriptor("peer configuration", DESCRIPTOR_SIZE, descriptor.remaining());
        RpmaPeerCfg cfg = new RpmaPeerCfg();
        cfg.object.made("rpma_peer_cfg_from_descriptor", Natives.peerCfgFromDescriptor(descriptor.get()));
        return cfg;
    }

    /**
     * Sets whether writes of the other side reach this side's persistent memory directly, bypassing the caches of the
     * processors, so that a flush makes them persistent. On Intel platforms this is the case if DDIO is off.
     *
     * <p>librpma also requires this property for persistent flushes that are native
     * ({@link RpmaDevice#isFlushNative()}), which need no direct writes: set it to {@code true} if all flushes of the
     * other side are native.
     *
     * @param supported whether the writes reach the memory directly; not verified
     * @return this object
     * @throws IllegalStateException if this object is closed
     */
    public RpmaPeerCfg setDirectWriteToPmem(boolean supported) {
        Call.check(
                "rpma_peer_cfg_set_direct_write_to_pmem",
                Natives.peerCfgSetDirectWriteToPmem(object.handle(), supported),
                object);
        return this;
    }

    /**
     * {@return whether writes of the other side reach this side's persistent memory directly}
     *
     * @throws IllegalStateException if this object is closed
     */
    public boolean getDirectWriteToPmem() {
        return Call.check(
                        "rpma_peer_cfg_get_direct_write_to_pmem",
                        Natives.peerCfgGetDirectWriteToPmem(object.handle()),
                        object)
                != 0;
    }

    /**
     * {@return the size of the descriptor in bytes}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getDescriptorSize() {
        return (int) Call.check(
                "rpma_peer_cfg_get_descriptor_size", Natives.peerCfgGetDescriptorSize(object.handle()), object);
    }

    /**
     * {@return the descriptor, from which the other side makes this configuration}
     *
     * @throws IllegalStateException if this object is closed
     */
    public byte[] getDescriptor() {
        byte[] descriptor = new byte[getDescriptorSize()];
        Call.check("rpma_peer_cfg_get_descriptor", Natives.peerCfgGetDescriptor(object.handle(), descriptor), object);
        return descriptor;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the configuration. Has no effect if it is already closed. Waits while another thread closes it.
     * Connections that use it are not affected.
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(object.whileOpen(() -> "directWriteToPmem=" + getDirectWriteToPmem()));
    }
}
