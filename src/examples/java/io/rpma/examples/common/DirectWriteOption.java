package io.rpma.examples.common;

import picocli.CommandLine.Option;

/** The option of a program that offers persistent memory to devices without native flush. */
public final class DirectWriteOption {
    @Option(
            names = "--direct-write-to-pmem",
            description =
                    "State that remote writes are persistent after a read has flushed them out of the device, because the"
                            + " platform keeps them out of its processors' caches: on Intel, DDIO is off for the device. The"
                            + " program can't check this. If it is false, a power cut loses acknowledged bytes. Without this"
                            + " option, if reads emulate flushes, the other side asks this program to make the bytes"
                            + " persistent, which is safe and slower. The option has no effect if flushes are native or the"
                            + " memory is not persistent.")
    private boolean given;

    /** Makes the option for picocli. */
    public DirectWriteOption() {}

    /** Returns whether the option is given. */
    public boolean isGiven() {
        return given;
    }
}
