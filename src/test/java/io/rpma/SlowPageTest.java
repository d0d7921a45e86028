// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.SlowPageProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A close does not wait for an atomic write that blocks while it reads its source. */
class SlowPageTest {
    @TempDir
    private Path directory;

    private String run(boolean inBatch, boolean closesSource) throws Exception {
        Path fifo = directory.resolve("page");
        assertThat(CProgram.run(Map.of(), "mkfifo", fifo.toString()).status()).isZero();
        Jvm.Finished finished = Jvm.likeThis()
                .preload(CProgram.compile(directory, "slowpage.c", "-shared", "-fPIC")
                        .toString())
                .environment("SLOW_PAGE", fifo.toString())
                .run(
                        SlowPageProgram.class,
                        CProgram.noopLibrpma().toString(),
                        fifo.toString(),
                        Boolean.toString(inBatch),
                        Boolean.toString(closesSource));
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out();
    }

    @Test
    void somethingElseIsClosed() throws Exception {
        assertThat(run(false, false)).isEqualTo("closed\ntrue\n");
    }

    @Test
    void theSourceIsClosed() throws Exception {
        assertThat(run(false, true)).matches("closed\njava.lang.IllegalStateException: .*RpmaMrLocal#\\d+ is closed\n");
    }

    @Test
    void somethingElseIsClosedBesideABatch() throws Exception {
        assertThat(run(true, false)).isEqualTo("closed\n2\n");
    }

    @Test
    void theSourceIsClosedBesideABatch() throws Exception {
        assertThat(run(true, true)).matches("closed\njava.lang.IllegalStateException: .* its local region is closed\n");
    }
}
