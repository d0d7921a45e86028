// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.util.List;

/** Numbers of bytes in texts. */
public final class ByteSize {
    private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB");
    private static final int UNIT = 1024;

    private ByteSize() {}

    /** Returns the exact size, in at most 7 characters if it is a power of 2 up to 512 GiB. */
    public static String text(long bytes) {
        long number = bytes;
        int unit = 0;
        while (number != 0 && number % UNIT == 0 && unit < UNITS.size() - 1) {
            number /= UNIT;
            unit++;
        }
        return number + " " + UNITS.get(unit);
    }
}
