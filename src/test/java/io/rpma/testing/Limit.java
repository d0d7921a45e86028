// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.time.Duration;

/**
 * The longest time of everything that a test waits for: longer than a whole part of a run takes on a busy machine,
 * because a wait ends with its event. A test whose subject is a limit has a limit of its own.
 */
public final class Limit {
    /** In seconds: less than JUnit's limit of a test, in {@code junit-platform.properties}. */
    public static final int WAIT_S = 1500;

    /** The same time. */
    public static final Duration WAIT = Duration.ofSeconds(WAIT_S);

    private Limit() {}
}
