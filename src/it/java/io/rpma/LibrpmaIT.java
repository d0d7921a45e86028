// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LibrpmaProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The librpma of the jar, with the shim and the dynamic linker of another processor. {@code LibrpmaTest} has the cases.
 */
@Tag("aarch64")
class LibrpmaIT {
    @Test
    void theOneOfTheJar() throws Exception {
        Librpma.assumeBundled();
        Jvm jvm = Jvm.onClassPath(Jvm.placeOf(RpmaConnCfg.class), Jvm.testClasses());
        Jvm.Finished finished = jvm.options("-Dio.rpma.librpma=bundled").run(LibrpmaProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded\nloaded\ncopy of librpma.so.0\n");
    }
}
