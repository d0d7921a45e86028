// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.ProcessProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Closes and the end of a process that other native code has changed. */
@Tag("stand-in")
@Tag("unsanitized")
class ProcessTest {
    @TempDir
    Path directory;

    private Jvm.Finished run(String task) throws Exception {
        String include = Path.of(System.getProperty("java.home"), "include").toString();
        Path library =
                CProgram.compile(directory, "process.c", "-shared", "-fPIC", "-I" + include, "-I" + include + "/linux");
        Jvm.Finished finished = Jvm.likeThis().run(ProcessProgram.class, library.toString(), task);
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished;
    }

    /** A JVM can take system calls from itself, also membarrier(2), which the shim has registered for. */
    @Test
    void membarrierIsForbiddenAfterItsRegistration() throws Exception {
        assertThat(run("forbid").out()).isEqualTo("filter: 0\nclosed\n");
    }

    /** The time in which the process is stopped counts. The limit is 5 s, and the stop lasts 6 s. */
    @Test
    void aWaitKeepsItsLimitWhenTheProcessIsStopped() throws Exception {
        long millis = Long.parseLong(run("stop").out().strip());
        assertThat(millis).isBetween(5_000L, 11_000L);
    }

    /** The child has only one of the threads, and no end of the others' calls. */
    @Test
    void aForkedChildExits() throws Exception {
        assertThat(run("fork").out()).isEqualTo("child: 0\n".repeat(10));
    }
}
