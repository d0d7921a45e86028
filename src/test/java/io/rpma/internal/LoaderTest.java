// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoaderTest {
    private static final String COPY = "/tmp/rpma-java-123.so: ";
    private static final String MISSING = ": cannot open shared object file: No such file or directory";

    @ParameterizedTest
    @CsvSource({"amd64, x86_64", "x86_64, x86_64", "AMD64, x86_64", "aarch64, aarch64"})
    void platformsThatHaveALibrary(String arch, String directory) {
        assertThat(Loader.resource("Linux", arch))
                .isEqualTo("/META-INF/native/linux-" + directory + "/librpma-java.so");
    }

    @ParameterizedTest
    @CsvSource({
        "Linux, riscv64",
        "Linux, i386",
        "Linux, ppc64le",
        "Linux, ''",
        "Windows 11, amd64",
        "Mac OS X, aarch64",
        "FreeBSD, amd64"
    })
    void platformsThatHaveNone(String os, String arch) {
        assertThatExceptionOfType(UnsatisfiedLinkError.class)
                .isThrownBy(() -> Loader.resource(os, arch))
                .withMessage("rpma-java runs on Linux on x86_64 and aarch64, this is " + os + " on " + arch);
    }

    @Test
    void theLibraryOfThisPlatformIsThere() {
        String resource = Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        assertThat(Loader.class.getResource(resource)).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({
        "librpma.so.0, librpma0",
        "librpma.so.0, the one of a jar that was built with it",
        "libibverbs.so.1, libibverbs1",
        "libibverbs.so.1, ibverbs-providers",
        "librdmacm.so.1, librdmacm1"
    })
    void namesTheMissingPackage(String library, String debianPackage) {
        assertThat(Loader.explain(COPY + library + MISSING))
                .startsWith(COPY + library + MISSING)
                .contains("is not installed")
                .contains(debianPackage)
                .contains("Fedora");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "libibverbs.so.1: version `IBVERBS_1.14' not found",
                "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found"
            })
    void aLibrpmaThatNeedsNewerLibraries(String missing) {
        assertThat(Loader.explain(missing + " (required by /usr/lib/librpma.so.0)"))
                .contains("this librpma needs a newer rdma-core or a newer C library. rpma-java needs librpma 1.2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file too short", "invalid ELF header", "wrong ELF class: ELFCLASS32"})
    void namesALibrpmaThatIsDamaged(String reason) {
        assertThat(Loader.explain(COPY + "/usr/lib/librpma.so.0: " + reason))
                .contains("this librpma is damaged, or is for another platform. rpma-java needs librpma 1.2")
                .doesNotContain("not installed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Error loading shared library librpma.so.0: No such file or directory (needed by /tmp/librpma-java.so)",
                "Error relocating /tmp/librpma-java.so: __fprintf_chk: symbol not found",
                COPY + "libc.musl-x86_64.so.1" + MISSING,
                "/lib/libc.so.6: version `GLIBC_2.99' not found (required by /opt/librpma-java.so)"
            })
    void namesTheLibraryOfCThatIsNeeded(String message) {
        assertThat(Loader.explain(message))
                .startsWith(message + "; rpma-java needs glibc 2.34 or later")
                .endsWith("does not support musl");
    }

    @Test
    void namesTheVersionThatIsNeeded() {
        assertThat(Loader.explain(COPY + "/usr/lib/librpma.so.0: version `LIBRPMA_1.0' not found (required by " + COPY))
                .contains("librpma 1.2 or later");
        assertThat(Loader.explain(COPY + COPY + "undefined symbol: rpma_srq_new, version LIBRPMA_1.0"))
                .contains("librpma 1.2 or later");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                COPY + "failed to map segment from shared object",
                COPY + "failed to map segment from shared object: Operation not permitted",
                COPY + "cannot enable executable stack: Operation not permitted"
            })
    void namesADirectoryThatIsMountedNoexec(String message) {
        assertThat(Loader.explain(message))
                .startsWith(message)
                .contains(System.getProperty("java.io.tmpdir") + " seems to be mounted noexec")
                .contains("-Djava.io.tmpdir")
                .contains("-Dio.rpma.library");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "Can't load library: /nowhere/librpma-java.so", COPY + "file too short"})
    void passesOtherReasonsOn(String message) {
        assertThat(Loader.explain(message)).isEqualTo(message);
    }
}
