package io.rpma.bench.device;

import java.util.Locale;

/** How completions are taken. */
enum Completions {
    /** Polled for. */
    POLL,

    /** Waited for; in C too by {@code ppoll(2)}, so that the wait could be ended, before the event is taken. */
    WAIT,

    /**
     * Waited for; in C by {@code rpma_cq_wait} alone, which nothing else ends, and of librpma's operations. In Java the same as
     * {@link #WAIT}.
     */
    BLOCK;

    /** The name in commands and results. */
    String command() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The way of a name. */
    static Completions of(String command) {
        return valueOf(command.toUpperCase(Locale.ROOT));
    }
}
