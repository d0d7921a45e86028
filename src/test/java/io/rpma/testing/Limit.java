// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.time.Duration;

/**
 * The longest time of everything that a test waits for. It is nearly the time that a whole part of a run may take, because a
 * busy machine makes anything slow, and a wait ends with its event. A test whose subject is a limit has a limit of its own.
 */
public final class Limit {
    /** In seconds: less than JUnit's limit of a test, in {@code junit-platform.properties}, which stops a thread without a message. */
    public static final int WAIT_S = 3000;

    /** The same time. */
    public static final Duration WAIT = Duration.ofSeconds(WAIT_S);

    private Limit() {}
}
