package io.rpma.examples.common;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What a side that offers memory tells the other one when it accepts the connection: how to reach the memory, and what its
 * platform does.
 *
 * <p>It travels as the private data of the acceptance, which has room for 196 bytes on RoCE and InfiniBand. The other side
 * always sees that many, filled up with zeroes, also from a program that sent none. Hence the mark of the service, which
 * also keeps one program from writing into the memory of another, and the version.
 *
 * @param peerCfg the descriptor of the offering side's {@link RpmaPeerCfg}
 * @param memory the descriptor of its {@link RpmaMrLocal}
 * @param persistent whether that memory is persistent
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
     * @param directWrite whether the operator has said that the platform makes persistent what a device has written to
     *     persistent memory; nobody checks this
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
     * The bytes to send.
     *
     * @param service the mark of the program
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
     * Reads what was received.
     *
     * @param service the mark of the program that is expected
     * @throws IOException if it does not come from that program, of this version
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

    /** Whether the other side's operator has said that its platform makes written bytes persistent. */
    boolean isDirectWrite() {
        try (RpmaPeerCfg platform = RpmaPeerCfg.fromDescriptor(peerCfg)) {
            return platform.getDirectWriteToPmem();
        }
    }

    /** The other side's memory as this side uses it; to be closed. */
    public RpmaMrRemote openMemory() throws IOException {
        try {
            return RpmaMrRemote.fromDescriptor(memory);
        } catch (IllegalArgumentException e) {
            throw new IOException("the other side offers no usable memory: " + e.getMessage(), e);
        }
    }
}
