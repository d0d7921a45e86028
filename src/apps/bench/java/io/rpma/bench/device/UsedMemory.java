// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The memory that this process uses.
 *
 * @param resident the resident memory in kilobytes
 * @param heap the size of the live objects on the heap in bytes
 */
record UsedMemory(long resident, long heap) {
    private static final Pattern RESIDENT = Pattern.compile("^VmRSS:\\s+(\\d+) kB$", Pattern.MULTILINE);

    static UsedMemory now() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return new UsedMemory(readResident(), runtime.totalMemory() - runtime.freeMemory());
    }

    private static long readResident() {
        try {
            Matcher resident = RESIDENT.matcher(Files.readString(Path.of("/proc/self/status")));
            if (!resident.find()) {
                throw new IOException("no VmRSS in /proc/self/status");
            }
            return Long.parseLong(resident.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the growth since an earlier measurement, as the two numbers of an answer. */
    String since(UsedMemory before) {
        return (resident - before.resident) + " " + (heap - before.heap);
    }
}
