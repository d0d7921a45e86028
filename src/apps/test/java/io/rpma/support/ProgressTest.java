// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

/** The progress of an operation. */
class ProgressTest {
    private static final long TOTAL = 4L << 40;

    @Test
    void whatIsAlreadyDoneDoesNotCountForTheRate() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Progress progress = new Progress("sending ", TOTAL, TOTAL / 2, new PrintStream(out), true);
        while (out.size() == 0) {
            progress.update(TOTAL / 2);
        }
        assertThat(out).hasToString("\rsending  50% of 4 TiB, 0 bytes/s\u001b[K");
    }
}
