// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.util.Locale;

/** The ways to take completions. */
enum Completions {
    /** By polling. */
    POLL,

    /**
     * By waiting. C calls {@code ppoll(2)} before it takes the event, so that the wait could be interrupted, as in
     * Java.
     */
    WAIT,

    /**
     * By waiting. C calls only {@code rpma_cq_wait}, which only a completion ends, or {@code recv(2)} for
     * {@link Operation#TCP}. This way is only for librpma's operations, where it is the same as {@link #WAIT} in Java,
     * and the only one for TCP.
     */
    BLOCK;

    /** Returns the name in commands and results. */
    String command() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the way with this name. */
    static Completions of(String command) {
        return valueOf(command.toUpperCase(Locale.ROOT));
    }
}
