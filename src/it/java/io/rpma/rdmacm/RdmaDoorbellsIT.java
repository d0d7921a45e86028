// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.programs.DoorbellsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Posts;
import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The system calls of posts on soft-RoCE: one for each chain, as {@link RdmaBatch} documents. */
@Tag("soak")
@Tag("processes")
@Tag("unsanitized")
class RdmaDoorbellsIT {
    private static final int SEQUENCES = 20;
    private static final int WRITES = 16;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
        assumeTrue(TestDevice.isSoft(), "a network card needs no system call to send");
    }

    @Test
    void aChainMakesOneSystemCall() throws InterruptedException {
        assertThat(doorbells("batch")).isEqualTo(SEQUENCES);
    }

    @Test
    void aPreparedChainMakesOneSystemCall() throws InterruptedException {
        assertThat(doorbells("prepared")).isEqualTo(SEQUENCES);
    }

    @Test
    void eachSinglePostMakesOneSystemCall() throws InterruptedException {
        assertThat(doorbells("single")).isEqualTo(SEQUENCES * WRITES);
    }

    private static long doorbells(String how) throws InterruptedException {
        Jvm jvm = Jvm.likeThis().options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(1));
        Jvm.Finished finished = Posts.print(jvm, 0)
                .run(DoorbellsProgram.class, how, Integer.toString(SEQUENCES), Integer.toString(WRITES));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(Posts.of(finished)).hasSize(SEQUENCES * WRITES);
        return Posts.doorbells(finished);
    }
}
