// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LocaleProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The errors of exceptions if the C library reports them in another language and another charset. */
@Tag("stand-in")
@Tag("unsanitized")
class LocaleTest {
    @Test
    void errorsInAnotherLanguage(@TempDir Path directory) throws Exception {
        Path foreign = CProgram.compile(directory, "foreign.c", "-shared", "-fPIC");
        Jvm.Finished finished = Jvm.likeThis()
                .environment("LD_PRELOAD", foreign + ":" + System.getenv("LD_PRELOAD"))
                .run(LocaleProgram.class, "ISO-8859-1", "none", "no charset");
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines())
                .containsExactly(
                        "19 rdma_bind_addr() failed: No such device",
                        "Illegal seek",
                        "14 ibv_reg_mr() failed: Bad address",
                        "22 ibv_post_send() failed: Invalid argument",
                        "false",
                        "0 rdma_getaddrinfo(): H\u00e4ufiger Name",
                        "0 rdma_getaddrinfo(): H\ufffdufiger Name",
                        "0 rdma_getaddrinfo(): H\ufffdufiger Name");
    }
}
