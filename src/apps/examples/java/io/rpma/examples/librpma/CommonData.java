// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The description of one side's memory in the private data of the connection: librpma's {@code struct common_data}.
 *
 * @param dataOffset the offset of the user's data in the region
 * @param mrDesc the descriptor of the region
 * @param pcfgDesc the descriptor of the platform's configuration, which can be empty
 */
record CommonData(long dataOffset, byte[] mrDesc, byte[] pcfgDesc) {
    private static final int SIZE = 28;
    private static final int MAX_OFFSET = 0xffff;

    CommonData {
        if (dataOffset > MAX_OFFSET) {
            throw new IllegalArgumentException(
                    "the offset of the data is at most " + MAX_OFFSET + ", not " + dataOffset);
        }
    }

    static CommonData of(RpmaMrLocal mr, long dataOffset) {
        return new CommonData(dataOffset, mr.getDescriptor(), new byte[0]);
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) dataOffset)
                .put((byte) mrDesc.length)
                .put((byte) pcfgDesc.length)
                .put(mrDesc)
                .put(pcfgDesc)
                .array();
    }

    static CommonData fromBytes(byte[] privateData) {
        if (privateData.length < SIZE) {
            throw new IllegalStateException(
                    "the other side has sent " + privateData.length + " bytes of private data instead of " + SIZE);
        }
        ByteBuffer data = ByteBuffer.wrap(privateData, 0, SIZE).order(ByteOrder.LITTLE_ENDIAN);
        long dataOffset = Short.toUnsignedInt(data.getShort());
        byte[] mrDesc = new byte[Byte.toUnsignedInt(data.get())];
        byte[] pcfgDesc = new byte[Byte.toUnsignedInt(data.get())];
        if (mrDesc.length + pcfgDesc.length > data.remaining()) {
            throw new IllegalStateException("the other side's private data is from another program");
        }
        data.get(mrDesc).get(pcfgDesc);
        return new CommonData(dataOffset, mrDesc, pcfgDesc);
    }

    /** Returns the described region, which must have room for this number of user bytes. The caller closes it. */
    RpmaMrRemote region(int size) {
        RpmaMrRemote region = RpmaMrRemote.fromDescriptor(mrDesc);
        long room = region.getSize() - dataOffset;
        if (room < size) {
            region.close();
            throw new IllegalStateException("the other side's memory is too small: " + room + " < " + size);
        }
        return region;
    }
}
