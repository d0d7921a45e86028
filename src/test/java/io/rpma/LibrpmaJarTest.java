// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.programs.LibrpmaProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.LibrpmaJar;
import io.rpma.testing.Sbom;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The jar with librpma, as users get it. The build makes it only with the profile librpma. */
class LibrpmaJarTest {
    private static final int NEWEST_GLIBC_MINOR = 17;

    private static final Path JAR = Path.of(Jvm.libraryJar().toString().replaceFirst("\\.jar$", "-librpma.jar"));

    @TempDir
    private Path directory;

    @BeforeEach
    void find() {
        assumeTrue(Files.exists(JAR), "the jar is built with -Plibrpma");
    }

    @Test
    void hasTheLibrariesAndTheirLicence() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            assertThat(jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName))
                    .filteredOn(name -> !name.startsWith("META-INF/maven/"))
                    .containsExactlyInAnyOrder(
                            "META-INF/MANIFEST.MF",
                            "META-INF/LICENSE",
                            "META-INF/licences/librpma/copyright",
                            "META-INF/sbom/librpma.cdx.json",
                            "META-INF/native/linux-x86_64/librpma.so.0",
                            "META-INF/native/linux-aarch64/librpma.so.0",
                            "io/rpma/librpma/Librpma.class",
                            "module-info.class");
            try (InputStream notice = jar.getInputStream(jar.getEntry("META-INF/licences/librpma/copyright"))) {
                assertThat(new String(notice.readAllBytes(), StandardCharsets.UTF_8))
                        .contains("Copyright: 2020 Intel", "Redistributions in binary form must reproduce");
            }
            assertThat(jar.getManifest().getMainAttributes().getValue("Implementation-Version"))
                    .startsWith("1.3.0-");
        }
    }

    @Test
    void itsSbomHasEachLibrary() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            Sbom sbom = Sbom.of(JAR, "librpma.cdx.json");
            String version = jar.getManifest().getMainAttributes().getValue("Implementation-Version");
            List<String> sums = new ArrayList<>();
            for (String architecture : List.of("x86_64", "aarch64")) {
                byte[] library = bytes(jar, "META-INF/native/linux-" + architecture + "/librpma.so.0");
                sums.add(HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(library)));
            }
            assertThat(sbom.values("content")).isEqualTo(sums);
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

    @Test
    void isAModule() {
        assertThat(ModuleFinder.of(JAR).find("io.rpma.librpma"))
                .hasValueSatisfying(
                        module -> assertThat(module.descriptor().isAutomatic()).isFalse());
    }

    @Test
    void runsWithoutTheLibrpmaOfTheSystem() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.libraryJar(), JAR, Jvm.testClasses())
                .environment("LD_LIBRARY_PATH", LibrpmaJar.hiding(directory))
                .run(LibrpmaProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded\nloaded\ncopy of librpma.so.0\n");
    }
}
