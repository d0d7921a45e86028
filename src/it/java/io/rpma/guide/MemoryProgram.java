// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaMemory;
import java.io.IOException;
import java.nio.file.Path;

/** Uses the memory that the commands of docs/guide/memory.md have made: a path, or huge pages as the page does. */
public final class MemoryProgram {
    /** The argument for huge pages. */
    static final String HUGE_PAGES = "huge-pages";

    private MemoryProgram() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments[0].equals(HUGE_PAGES)) {
            try (RpmaMemory memory = RpmaMemory.allocateHuge(64 << 20, 2 << 20)) {
                System.out.println(memory.size());
            }
            try (RpmaMemory memory = RpmaMemory.map(Path.of("/dev/hugepages/data"), 64 << 20)) {
                System.out.println(memory.size() + ", " + memory.kind());
            }
        } else {
            System.out.println(MemorySamples.describe(Path.of(arguments[0])));
        }
    }
}
