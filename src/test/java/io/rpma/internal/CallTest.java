// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, Long.MAX_VALUE})
    void passesResultsThrough(long result) {
        assertThat(Call.check("rpma_mr_get_size", result)).isEqualTo(result);
    }

    @ParameterizedTest
    @EnumSource
    void raisesEveryErrorOfLibrpma(RpmaError error) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> Call.check("rpma_read", error.code()))
                .satisfies(e -> assertThat(e.error()).isSameAs(error))
                .satisfies(e -> assertThat(e.operation()).isEqualTo("rpma_read"));
    }

    @ParameterizedTest
    @ValueSource(longs = {-5, -100_010, Integer.MIN_VALUE})
    void raisesUnknownForACodeThatLibrpmaDoesNotHave(long code) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> Call.check("rpma_read", code))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.UNKNOWN));
    }

    @ParameterizedTest
    @CsvSource({
        "1, EPERM, Operation not permitted",
        "22, EINVAL, Invalid argument",
        "111, ECONNREFUSED, Connection refused"
    })
    void raisesAnErrnoOfLibrdmacm(int errno, String name, String text) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> Call.check("rdma_something", Result.ERRNO - errno))
                .withMessage("rdma_something failed: Provider error occurred (PROVIDER): " + text + " (" + name + ")")
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo(name))
                .satisfies(e -> assertThat(e.detail()).isEqualTo(text));
    }

    @Test
    void namesTheClosedObjectOfACall() {
        Resource open = Fake.object("Open");
        Resource closed = Fake.object("Closed");
        Fake.close(closed, "closed", handle -> 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> Call.check("rpma_read", Result.CLOSED, open, closed))
                .withMessage("rpma_read: " + closed + " is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> Call.check("rpma_read", Result.CLOSED, open))
                .withMessage("rpma_read: an object of the call is closed");
    }
}
