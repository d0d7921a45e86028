// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import io.rpma.testing.Sbom;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The librpma of the jar. The build makes a jar without it where it has no mirror of Debian. */
class BundledLibrpmaTest {
    private static final int NEWEST_GLIBC_MINOR = 17;

    private static final Path JAR = Jvm.libraryJar();

    @TempDir
    private Path directory;

    @BeforeEach
    void find() {
        Librpma.assumeBundled();
    }

    @Test
    void hasItsLicence() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile());
                InputStream notice = jar.getInputStream(jar.getEntry("META-INF/licences/librpma/copyright"))) {
            assertThat(new String(notice.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("Copyright: 2020 Intel", "Redistributions in binary form must reproduce");
        }
    }

    @Test
    void itsSbomHasEachLibrary() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            Sbom sbom = Sbom.of(JAR, "librpma.cdx.json");
            List<String> sums = new ArrayList<>();
            for (String architecture : List.of("x86_64", "aarch64")) {
                byte[] library = bytes(jar, "META-INF/native/linux-" + architecture + "/librpma.so.0");
                sums.add(HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(library)));
            }
            assertThat(sbom.values("content")).isEqualTo(sums);
            String version = sbom.values("version").get(0);
            assertThat(version).startsWith("1.3.0-");
            assertThat(sbom.values("version")).containsExactly(version, version);
            String purl = "pkg:deb/debian/librpma0@" + version.replace("+", "%2B") + "?arch=";
            assertThat(sbom.values("purl")).containsExactly(purl + "amd64", purl + "arm64");
        }
    }

    private static byte[] bytes(JarFile jar, String name) throws IOException {
        try (InputStream stream = jar.getInputStream(jar.getEntry(name))) {
            return stream.readAllBytes();
        }
    }

    @ParameterizedTest
    @CsvSource({"x86_64, Advanced Micro Devices X86-64", "aarch64, AArch64"})
    void eachLibrary(String architecture, String machine) throws Exception {
        Path library = directory.resolve("librpma.so.0");
        try (JarFile jar = new JarFile(JAR.toFile());
                InputStream stream =
                        jar.getInputStream(jar.getEntry("META-INF/native/linux-" + architecture + "/librpma.so.0"))) {
            Files.copy(stream, library);
        }
        String elf = Tool.run("readelf", "--file-header", "--dynamic", "--version-info", "--wide", library.toString());
        assertThat(elf).containsPattern("Machine: +" + machine).containsPattern("SONAME.*\\[librpma\\.so\\.0]");
        assertThat(Pattern.compile("Name: GLIBC_2\\.(\\d+)").matcher(elf).results())
                .isNotEmpty()
                .allSatisfy(
                        minor -> assertThat(Integer.parseInt(minor.group(1))).isLessThanOrEqualTo(NEWEST_GLIBC_MINOR));
    }
}
