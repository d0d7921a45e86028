// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.common;

/** Numbers of bytes in texts. */
public final class ByteSize {
    private ByteSize() {}

    /** Returns the exact size, in at most 7 characters if it is a power of 2. */
    public static String text(long bytes) {
        if (bytes == 0) {
            return "0 B";
        }
        if (bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
