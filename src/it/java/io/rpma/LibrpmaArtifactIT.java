// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LibrpmaProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.LibrpmaJar;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A jar with librpma, with the shim and the dynamic linker of another processor. {@code LibrpmaArtifactTest} has the
 * cases.
 */
@Tag("aarch64")
class LibrpmaArtifactIT {
    @Test
    void theArtifactIsPreferred(@TempDir Path directory) throws Exception {
        Jvm jvm = Jvm.onClassPath(Jvm.placeOf(RpmaConnCfg.class), Jvm.testClasses(), LibrpmaJar.make(directory));
        Jvm.Finished finished = jvm.run(LibrpmaProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded\nloaded\ncopy of librpma.so.0\n");
    }
}
