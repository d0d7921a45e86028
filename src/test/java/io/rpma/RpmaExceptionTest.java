// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RpmaExceptionTest {
    @Test
    void tellsAll() {
        RpmaException exception = new RpmaException(
                "rpma_mr_reg", RpmaError.PROVIDER, 14, "ibv_reg_mr() failed: Bad address", "use device DAX");

        assertThat(exception.operation()).isEqualTo("rpma_mr_reg");
        assertThat(exception.error()).isSameAs(RpmaError.PROVIDER);
        assertThat(exception.detail()).isEqualTo("ibv_reg_mr() failed: Bad address");
        assertThat(exception.errno()).isEqualTo(14);
        assertThat(exception.errnoName()).isEqualTo("EFAULT");
        assertThat(exception.with("a remedy").errnoName()).isEqualTo("EFAULT");
        assertThat(exception)
                .hasMessage("rpma_mr_reg failed: Provider error occurred (PROVIDER): ibv_reg_mr() failed: Bad address;"
                        + " use device DAX");
    }

    @Test
    void leavesOutWhatIsNotKnown() {
        assertThat(new RpmaException("rpma_read", RpmaError.INVAL, 0, "", ""))
                .hasMessage("rpma_read failed: Invalid argument (INVAL)");
        assertThat(new RpmaException("rpma_read", RpmaError.INVAL, 0, "the reason", ""))
                .hasMessage("rpma_read failed: Invalid argument (INVAL): the reason");
        assertThat(new RpmaException("rpma_read", RpmaError.INVAL, 0, "", "the remedy"))
                .hasMessage("rpma_read failed: Invalid argument (INVAL); the remedy");
    }
}
