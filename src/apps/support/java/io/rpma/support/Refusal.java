// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.util.Optional;

/** The private data with which a listening side tells a client why it is refused. */
public final class Refusal {
    /** Distinguishes a refusal from the private data of all programs: "refu". */
    private static final int MARK = 0x7265_6675;

    private Refusal() {}

    /**
     * Returns the bytes to send.
     *
     * @param reason ASCII, of at most 144 characters, which is the room in a rejection
     */
    public static byte[] toPrivateData(String reason) {
        byte[] text = reason.getBytes(US_ASCII);
        return ByteBuffer.allocate(Integer.BYTES + text.length)
                .putInt(MARK)
                .put(text)
                .array();
    }

    /** Reads the reason; empty if the private data is no refusal. */
    static Optional<String> fromPrivateData(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.remaining() < Integer.BYTES || data.getInt() != MARK) {
            return Optional.empty();
        }
        // without the padding, and without bytes that a terminal would obey
        return Optional.of(US_ASCII.decode(data).toString().replaceAll("[^ -~]", ""));
    }
}
