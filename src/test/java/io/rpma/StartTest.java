// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.StartProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The first method handle makes the JDK initialize its method handle code, which takes longer than the rest of a start.
 */
class StartTest {
    @Test
    void needsNoMethodHandles() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses())
                .options("-Xlog:class+load")
                .run(StartProgram.class, CProgram.noopLibrpma().toString());
        assertThat(finished.status()).as(finished.toString()).isZero();
        List<String> loaded = finished.out()
                .lines()
                .dropWhile(line -> !line.contains(StartProgram.BEGIN))
                .takeWhile(line -> !line.contains(StartProgram.END))
                .collect(Collectors.toList());
        assertThat(loaded).anyMatch(line -> line.contains("io.rpma.RpmaConn "));
        assertThat(loaded)
                // a fence of VarHandle loads two classes from the JDK's archive
                .noneMatch(line ->
                        line.matches(".*(Lambda|java\\.lang\\.invoke\\.(?!VarHandle)|StringConcat|EnumSet|EnumMap).*"));
    }
}
