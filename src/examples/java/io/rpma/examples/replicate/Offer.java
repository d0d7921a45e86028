package io.rpma.examples.replicate;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the receiver tells the sender when it accepts the connection: how to reach its memory, and what its platform does.
 *
 * <p>It travels as the private data of the acceptance, which has room for 196 bytes on RoCE and InfiniBand. The sender
 * always sees that many, filled up with zeroes, also from a program that sent none. Hence the mark and the version.
 *
 * @param peerCfg the descriptor of the receiver's {@link RpmaPeerCfg}
 * @param memory the descriptor of the receiver's {@link RpmaMrLocal}
 */
record Offer(byte[] peerCfg, byte[] memory) {
    private static final int MARK = 0x7270_6d61; // "rpma"
    private static final byte VERSION = 1;
    private static final int LENGTH =
            Integer.BYTES + Byte.BYTES + RpmaPeerCfg.DESCRIPTOR_SIZE + RpmaMrLocal.DESCRIPTOR_SIZE;

    /** The bytes to send. */
    byte[] toPrivateData() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(MARK)
                .put(VERSION)
                .put(peerCfg)
                .put(memory)
                .array();
    }

    /**
     * Reads what was received.
     *
     * @throws IOException if it does not come from a receiver of this version
     */
    static Offer fromPrivateData(byte[] privateData) throws IOException {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.remaining() < LENGTH || data.getInt() != MARK) {
            throw new IOException("the other side accepted the connection, but is no receiver of this program");
        }
        byte version = data.get();
        if (version != VERSION) {
            throw new IOException("the receiver is of version " + version + ", this sender of version " + VERSION);
        }
        byte[] peerCfg = new byte[RpmaPeerCfg.DESCRIPTOR_SIZE];
        byte[] memory = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        data.get(peerCfg).get(memory);
        return new Offer(peerCfg, memory);
    }

    /** The receiver's memory as the sender uses it; to be closed. */
    RpmaMrRemote openMemory() throws IOException {
        try {
            return RpmaMrRemote.fromDescriptor(memory);
        } catch (IllegalArgumentException e) {
            throw new IOException("the receiver offers no usable memory: " + e.getMessage(), e);
        }
    }
}
