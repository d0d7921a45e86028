package io.rpma.examples.common;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
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
 */
public record Offer(byte[] peerCfg, byte[] memory) {
    private static final byte VERSION = 1;
    private static final int LENGTH =
            Integer.BYTES + Byte.BYTES + RpmaPeerCfg.DESCRIPTOR_SIZE + RpmaMrLocal.DESCRIPTOR_SIZE;

    /**
     * Describes this side.
     *
     * <p>Direct write to persistent memory says that what a flush has pushed out of the device is in the persistent memory,
     * and not in a processor's cache. Nobody checks this: on Intel platforms switch DDIO off for the device. librpma wants
     * it said before it flushes to persistence.
     */
    public static Offer of(RpmaMrLocal region) {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(TargetMemory.isFlushedToPersistence(region))) {
            return new Offer(cfg.getDescriptor(), region.getDescriptor());
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
        return new Offer(peerCfg, memory);
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
