// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.EventsAloneProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Events without completions do not prolong a wait: other threads can take each completion first. */
class EventsAloneTest {
    private void assertAllEnd(boolean isVirtual) throws Exception {
        Jvm.Finished finished = Jvm.likeThis()
                .run(EventsAloneProgram.class, CProgram.noopLibrpma().toString(), Boolean.toString(isVirtual));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out())
                .matches(
                        "0\ntrue\njava.lang.InterruptedException: .*\njava.lang.IllegalStateException: .* is closed\n");
    }

    @Test
    void waitsEnd() throws Exception {
        assertAllEnd(false);
    }

    @Test
    @Tag("newer-jdk")
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
    void waitsOfVirtualThreadsEnd() throws Exception {
        assertAllEnd(true);
    }
}
