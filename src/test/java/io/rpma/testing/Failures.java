// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Checks calls that fail with the exception of the library. */
public final class Failures {
    private Failures() {}

    /** Checks the errno of the failure. */
    public static void assertFails(String errno, ThrowingCallable call) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.errnoName()).as(e.getMessage()).isEqualTo(errno));
    }

    /** Checks the C function that failed and the errno of the failure. */
    public static void assertFails(String operation, String errno, ThrowingCallable call) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.operation()).isEqualTo(operation))
                .satisfies(e -> assertThat(e.errnoName()).as(e.getMessage()).isEqualTo(errno));
    }
}
