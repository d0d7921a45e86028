package io.rpma.tools;

import io.rpma.RpmaMrUsage;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The operations that {@code perf} measures. The order of the constants is a part of the protocol. */
enum PerfOperation {
    WRITE("write", RpmaMrUsage.WRITE_DST),
    READ("read", RpmaMrUsage.READ_SRC),
    /** A write with immediate data, which takes a receive, and the server's answer without bytes. */
    WRITE_IMM("write-imm", RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV),
    ATOMIC_WRITE("atomic-write", RpmaMrUsage.WRITE_DST),
    /** A write and its flush. An emulated flush reads. */
    FLUSH_VISIBLE("flush-visible", RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY),
    /** A write into persistent memory and its flush. */
    FLUSH_PERSISTENT(
            "flush-persistent", RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_PERSISTENT),
    /** A message, and the server's answer with the same number of bytes. */
    SEND("send", RpmaMrUsage.RECV, RpmaMrUsage.SEND);

    private final String title;
    private final List<RpmaMrUsage> usages;

    PerfOperation(String title, RpmaMrUsage... usages) {
        this.title = title;
        this.usages = List.of(usages);
    }

    /** Returns the operation with a name; empty if there is none. */
    static Optional<PerfOperation> of(String title) {
        return Stream.of(values())
                .filter(operation -> operation.title.equals(title))
                .findFirst();
    }

    /** Returns the usages for which the server registers its memory: those that the operation needs, and no others. */
    RpmaMrUsage[] usages() {
        return usages.toArray(RpmaMrUsage[]::new);
    }

    /** Returns whether the server's answer completes the operation. */
    boolean isAnswered() {
        return this == SEND || this == WRITE_IMM;
    }

    /** Returns whether the operation has a write and a flush. */
    boolean isFlushed() {
        return this == FLUSH_VISIBLE || this == FLUSH_PERSISTENT;
    }

    /** Returns whether an operation can have this number of bytes. */
    boolean fits(long size) {
        // an emulated flush reads 8 bytes
        return isFlushed() ? size >= Long.BYTES : this != ATOMIC_WRITE || size == Long.BYTES;
    }

    @Override
    public String toString() {
        return title;
    }
}
