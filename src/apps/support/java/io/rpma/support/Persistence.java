// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

/** The ways in which written bytes become persistent on the other side. */
public enum Persistence {
    /** The device of the other side carries out the flush itself. */
    NATIVE_FLUSH("native flush"),

    /**
     * A flush is a read, and the operator of the other side has stated that its platform makes written bytes
     * persistent.
     */
    DIRECT_WRITE("direct write, as configured"),

    /** The program of the other side makes the bytes persistent on request, and answers. */
    SERVER("persisted by the server"),

    /** The bytes are only visible to the other side: its memory is not persistent, and a power cut loses them. */
    NONE("visibility only");

    private final String description;

    Persistence(String description) {
        this.description = description;
    }

    /**
     * Chooses the first possible way.
     *
     * @param persistent whether the other side's memory is persistent
     * @param flushable whether its region is registered for flushes to persistence
     * @param nativeFlush whether flushes are native
     * @param directWrite whether the operator of the other side has stated that its platform makes written bytes
     *     persistent
     */
    static Persistence choose(boolean persistent, boolean flushable, boolean nativeFlush, boolean directWrite) {
        if (!persistent) {
            return NONE;
        }
        if (flushable && nativeFlush) {
            return NATIVE_FLUSH;
        }
        return flushable && directWrite ? DIRECT_WRITE : SERVER;
    }

    /** Returns whether a flush to persistence makes bytes persistent. */
    boolean isByFlush() {
        return this == NATIVE_FLUSH || this == DIRECT_WRITE;
    }

    /** Returns a description for the user. */
    public String description() {
        return description;
    }
}
