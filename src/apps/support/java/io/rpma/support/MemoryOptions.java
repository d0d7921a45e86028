// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the offered memory. Each program has its own option for the path, because the defaults differ. */
public final class MemoryOptions {
    /** A paragraph of the help of each program with these options, without a final period. */
    public static final String ABOUT =
            "The memory is a device DAX (/dev/dax0.0) or a file. Kernels from 6.5 on refuse remote writes into an ordinary"
                    + " file, but not into a file in /dev/shm. 'auto' selects the first device DAX, otherwise a temporary"
                    + " file in /dev/shm, otherwise anonymous memory";

    @Option(
            names = "--size",
            converter = Size.class,
            paramLabel = "BYTES",
            description = "Size of the memory (64k, 1M, 2G...); a shorter file is extended. Default: the whole"
                    + " device or file; 256M for memory that 'auto' makes.")
    private Long size;

    @Option(
            names = "--direct-write-to-pmem",
            description =
                    "Declare that the platform keeps remote writes out of its processors' caches (on Intel: DDIO is off"
                            + " for the device). A read then flushes the writes out of the device and makes them"
                            + " persistent. The program can't check this declaration. If the declaration is false, a"
                            + " power cut loses acknowledged bytes. Without this option, the other side asks this"
                            + " program to make the bytes persistent if reads emulate flushes, which is safe and slower."
                            + " The option has no effect if flushes are native or the memory is not persistent.")
    private boolean directWrite;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Called by picocli. */
    public MemoryOptions() {}

    /** Returns the size in bytes; 0 for the whole of a device or a file. */
    public long size() {
        return size == null ? 0 : size;
    }

    /** Returns whether the operator has stated that the platform makes written bytes persistent. */
    public boolean directWrite() {
        return directWrite;
    }

    /**
     * Refuses an empty path, and a size that is too small.
     *
     * @param path the value of {@code --memory}
     * @param least the size that the program needs
     */
    public void check(String path, long least) {
        Program.check(command, "--memory", !path.isEmpty(), "must not be empty");
        Program.check(command, "--size", size == null || size >= least, "must be at least " + least + " bytes");
    }
}
