package io.rpma.examples.common;

/** How written bytes become persistent on the other side, if they do. */
public enum Persistence {
    /** The device of the other side carries out the flush itself. */
    NATIVE_FLUSH("native flush"),

    /** A flush is a read, and the operator of the other side has said that its platform makes written bytes persistent. */
    DIRECT_WRITE("direct write, as told"),

    /** The program of the other side makes them persistent when it is asked to, and answers. */
    SERVER("persisted by the server"),

    /** They are visible there, and lost when its power is cut: its memory is not persistent. */
    NONE("visibility only");

    private final String description;

    Persistence(String description) {
        this.description = description;
    }

    /**
     * Chooses the first one that holds.
     *
     * @param persistent whether the other side's memory is persistent
     * @param flushable whether its region is registered for flushes to persistence
     * @param nativeFlush whether flushes are native
     * @param directWrite whether the other side's operator has said that its platform makes written bytes persistent
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

    /** Whether a flush to persistence makes bytes persistent. */
    boolean isByFlush() {
        return this == NATIVE_FLUSH || this == DIRECT_WRITE;
    }

    /** For people. */
    public String description() {
        return description;
    }
}
