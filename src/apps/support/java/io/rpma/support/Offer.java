// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The data that a side with memory sends when it accepts a connection: how to reach the memory, and the properties of
 * its platform.
 *
 * <p>The offer is the private data of the acceptance, which has room for 196 bytes on RoCE and InfiniBand. The other
 * side always gets 196 bytes, filled up with zeroes, even if the accepting program has sent none. So the offer has a
 * version and the identifier of a program. The identifier also prevents a program from writing into the memory of
 * another program.
 *
 * @param peerCfg the descriptor of the offering side's {@link RpmaPeerCfg}
 * @param memory the descriptor of its {@link RpmaMrLocal}
 * @param persistent whether the memory is persistent
 * @param nativeFlush whether its device carries out native flushes
 */
public record Offer(byte[] peerCfg, byte[] memory, boolean persistent, boolean nativeFlush) {
    private static final byte VERSION = 2;
    private static final int PERSISTENT = 1;
    private static final int NATIVE_FLUSH = 2;
    private static final int LENGTH =
            Integer.BYTES + Byte.BYTES + RpmaPeerCfg.DESCRIPTOR_SIZE + RpmaMrLocal.DESCRIPTOR_SIZE + Byte.BYTES;

    /**
     * Describes this side.
     *
     * @param directWrite whether the operator has stated that the platform makes a device's writes to persistent memory
     *     persistent; this is not checked
     */
    public static Offer of(RpmaPeer peer, RpmaMrLocal region, boolean directWrite) {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(directWrite)) {
            return new Offer(
                    cfg.getDescriptor(),
                    region.getDescriptor(),
                    region.isPersistent(),
                    peer.device().isFlushNative());
        }
    }

    /**
     * Returns the bytes to send.
     *
     * @param service the identifier of the program
     */
    public byte[] toPrivateData(int service) {
        return ByteBuffer.allocate(LENGTH)
                .putInt(service)
                .put(VERSION)
                .put(peerCfg)
                .put(memory)
                .put((byte) ((persistent ? PERSISTENT : 0) | (nativeFlush ? NATIVE_FLUSH : 0)))
                .array();
    }

    /**
     * Reads a received offer.
     *
     * @param service the identifier of the expected program
     * @throws IOException if the offer is from another program or another version
     */
    public static Offer fromPrivateData(byte[] privateData, int service) throws IOException {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.remaining() < LENGTH || data.getInt() != service) {
            throw new IOException("the other side accepted the connection, but is not of this program");
        }
        byte version = data.get();
        if (version != VERSION) {
            throw new IOException("the other side is of version " + version + ", this one of version " + VERSION);
        }
        byte[] peerCfg = new byte[RpmaPeerCfg.DESCRIPTOR_SIZE];
        byte[] memory = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        data.get(peerCfg).get(memory);
        byte flags = data.get();
        return new Offer(peerCfg, memory, (flags & PERSISTENT) != 0, (flags & NATIVE_FLUSH) != 0);
    }

    /** Returns whether the operator of the other side has stated that its platform makes written bytes persistent. */
    public boolean isDirectWrite() {
        try (RpmaPeerCfg platform = RpmaPeerCfg.fromDescriptor(peerCfg)) {
            return platform.getDirectWriteToPmem();
        }
    }

    /** Returns the other side's memory for use by this side. The caller closes it. */
    public RpmaMrRemote openMemory() throws IOException {
        try {
            return RpmaMrRemote.fromDescriptor(memory);
        } catch (IllegalArgumentException e) {
            throw new IOException("the other side offers no usable memory: " + e.getMessage(), e);
        }
    }
}
