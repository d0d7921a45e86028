// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.support.Output;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Arrays;

/** Checks a file in memory, whose header and bytes a sender can write. */
public final class CommittedFileFuzz {
    private static final int LENGTH = 64;
    private static final RpmaMemory MEMORY = RpmaMemory.allocate(Layout.DATA + LENGTH);

    static {
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    }

    private static final Output OUTPUT = Output.toStandardOutput("fuzz");

    private CommittedFileFuzz() {}

    /** Called by the fuzzer. The first bytes are the header, and the others the file. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        byte[] both = Arrays.copyOf(bytes, 2 * LENGTH);
        MEMORY.buffer(0, LENGTH).put(both, 0, LENGTH);
        MEMORY.buffer(Layout.DATA, LENGTH).put(both, LENGTH, LENGTH);
        try {
            new CommittedFile(MEMORY, OUTPUT).check("memory");
        } catch (IOException e) {
            // a damaged header, or another file
        }
    }
}
