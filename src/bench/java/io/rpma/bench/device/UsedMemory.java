package io.rpma.bench.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The memory that this process uses.
 *
 * @param resident in kilobytes
 * @param heap in bytes, of live objects
 */
record UsedMemory(long resident, long heap) {
    private static final int PAGE_KB = 4;

    static UsedMemory now() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return new UsedMemory(readResident(), runtime.totalMemory() - runtime.freeMemory());
    }

    /** proc(5): the second number of statm is that of resident pages. */
    private static long readResident() {
        try {
            return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE_KB;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** By how much it has grown: two numbers of an answer. */
    String since(UsedMemory before) {
        return (resident - before.resident) + " " + (heap - before.heap);
    }
}
