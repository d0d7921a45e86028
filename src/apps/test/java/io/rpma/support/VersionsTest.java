// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The forms of versions. {@code InfoTest} shows the versions of this machine. */
class VersionsTest {
    @ParameterizedTest
    @CsvSource({
        "libibverbs.so.1.14.44.0, 44.0",
        "libibverbs.so.1.14.56.1, 56.1",
        "libibverbs.so.1.15.65, 65",
        "libibverbs.so.1,",
        "libstandin.so,",
    })
    void theVersionOfRdmaCore(String file, String version) {
        assertThat(Versions.rdmaCore(Path.of("/usr/lib", file))).isEqualTo(version);
    }

    @ParameterizedTest
    @CsvSource({"1.3.0-1, 1.3.0", "1:1.3.0-2+b1, 1.3.0", "1.2.0, 1.2.0", "1.4.0-rc1-1, 1.4.0-rc1", ","})
    void theUpstreamPartOfAVersionOfDebian(String version, String upstream) {
        assertThat(Versions.upstream(version)).isEqualTo(upstream);
    }
}
