package io.rpma.examples.common;

import picocli.CommandLine.Option;

/** The option of a program that offers persistent memory to devices without native flush. */
public final class DirectWriteOption {
    @Option(
            names = "--direct-write-to-pmem",
            description =
                    "Say that remote writes reach persistence once a read has flushed them out of the device, because the"
                            + " platform keeps them out of its processors' caches: on Intel, DDIO is off for the device. Nobody"
                            + " checks this, and if it is wrong a power cut loses acknowledged bytes. Without it, where flushes"
                            + " are emulated by reads, this program is asked to make the bytes persistent, which is safe and"
                            + " slower. It changes nothing where flushes are native or the memory is not persistent.")
    private boolean given;

    /** For picocli. */
    public DirectWriteOption() {}

    /** Whether it is given. */
    public boolean isGiven() {
        return given;
    }
}
