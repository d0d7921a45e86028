// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RpmaExceptionTest {
    @Test
    void tellsAll() {
        RpmaException exception = new RpmaException(
                "rpma_mr_reg", RpmaError.PROVIDER, 0, "ibv_reg_mr() failed: Bad address", "use device DAX");

        assertThat(exception.operation()).isEqualTo("rpma_mr_reg");
        assertThat(exception.error()).isSameAs(RpmaError.PROVIDER);
        assertThat(exception.detail()).isEqualTo("ibv_reg_mr() failed: Bad address");
        assertThat(exception.errno()).isEqualTo(14);
        assertThat(exception.errnoName()).isEqualTo("EFAULT");
        assertThat(exception)
                .hasMessage("rpma_mr_reg failed: Provider error occurred (PROVIDER): ibv_reg_mr() failed: Bad address;"
                        + " use device DAX");
    }

    @ParameterizedTest
    @CsvSource({
        "EAGAIN, rdma_get_cm_event() failed: Resource temporarily unavailable",
        "ETIMEDOUT, 'rdma_resolve_addr(src_addr=a; b, dst_addr= failed: x, timeout_ms=1) failed: Connection timed out'",
        "ENOMEM, ibv_post_send failed: Cannot allocate memory; ibv_dereg_mr() failed: Invalid argument",
        "EINVAL, Unexpected event received: RDMA_CM_EVENT_REJECTED; rdma_disconnect() failed: Invalid argument",
        "'', 'rdma_getaddrinfo(node=x, ai_qp_type=IBV_QPT_RC): Invalid argument'",
        "'', ibv_poll_cq() failed (no details available)",
        "'', a message failed: Invalid argument of the caller",
        "'', a message failed: Unknown error 41"
    })
    void namesTheFirstErrorOfLibrpmasMessages(String name, String messages) {
        RpmaException exception = new RpmaException("rpma_read", RpmaError.PROVIDER, 0, messages, "");
        assertThat(exception.errnoName()).isEqualTo(name);
        assertThat(exception.with("a remedy").errnoName()).isEqualTo(name);
        assertThat(exception).hasMessage("rpma_read failed: Provider error occurred (PROVIDER): " + messages);
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
