// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaException;
import io.rpma.internal.Access;
import io.rpma.internal.Errno;
import io.rpma.internal.Result;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    private static RpmaException failure(int errno) {
        return (RpmaException) Access.get().exception("rpma_cq_wait", Result.PROVIDER, errno, "the reason", "the hint");
    }

    @Test
    void theEndOfAConnectionIsTheReasonOfItsLoss() {
        assertThat(Errors.loss(failure(Errno.ENOTCONN))).isEqualTo("the other side has closed the connection");
        assertThat(Errors.loss(failure(Errno.EINVAL))).startsWith("rpma_cq_wait failed: ");
    }
}
