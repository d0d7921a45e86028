// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.internal.Loader;
import io.rpma.testing.Jvm;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The jar as users get it. */
class PackagedJarTest {
    /** A source file, because it runs without the test classes on the class path. */
    private static final String PROGRAM = "src/test/java/io/rpma/programs/LoadProgram.java";

    private static final String MODULE = "io.rpma";

    private static Jvm onModulePath(Path... entries) {
        return Jvm.onModulePathWithoutNativeAccess(MODULE, entries);
    }

    private static void assertLoaded(Jvm.Finished finished) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded, 1000 ms\n");
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void hasTheLibraryAndNothingOfTheBuild() throws Exception {
        try (JarFile jar = new JarFile(Jvm.libraryJar().toFile())) {
            List<String> names = jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(ZipEntry::getName)
                    .collect(Collectors.toList());
            assertThat(names)
                    .contains("module-info.class", "META-INF/LICENSE", "io/rpma/RpmaConn.class")
                    .contains(Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"))
                            .substring(1))
                    .allMatch(
                            name -> name.matches(
                                    "module-info\\.class|META-INF/(MANIFEST\\.MF|LICENSE|maven/.*"
                                            + "|native-image/io\\.github\\.rpma-java/rpma-java/reachability-metadata\\.json"
                                            + "|native/linux-(x86_64|aarch64)/librpma(-java\\.so|\\.so\\.0)"
                                            + "|licences/librpma/copyright|sbom/librpma\\.cdx\\.json)|io/rpma/(\\w|\\$)+\\.class"
                                            + "|io/rpma/package-info\\.class|io/rpma/(rdmacm|internal|internal/loop)/[-\\w$]+\\.class"));
            assertThat(jar.getManifest().getMainAttributes().getValue("Implementation-Version"))
                    .isNotEmpty();
        }
    }

    @Test
    void exportsThePackagesOfTheModuleToOsgi() throws Exception {
        ModuleDescriptor module =
                ModuleFinder.of(Jvm.libraryJar()).find(MODULE).orElseThrow().descriptor();
        try (JarFile jar = new JarFile(Jvm.libraryJar().toFile())) {
            Attributes attributes = jar.getManifest().getMainAttributes();
            String version = attributes.getValue("Implementation-Version").replace('-', '.');
            assertThat(attributes.getValue("Bundle-SymbolicName")).isEqualTo(MODULE);
            assertThat(attributes.getValue("Bundle-Version")).isEqualTo(version);
            assertThat(attributes.getValue("Export-Package").split(","))
                    .containsExactlyInAnyOrderElementsOf(module.exports().stream()
                            .map(exports -> exports.source() + ";version=" + version
                                    + (exports.source().equals(MODULE) ? "" : ";uses:=" + MODULE))
                            .collect(Collectors.toList()));
        }
    }

    @Test
    void runsAloneOnTheClassPath() throws Exception {
        assertLoaded(Jvm.onClassPath(Jvm.libraryJar()).run(PROGRAM));
    }

    @Test
    void runsWithoutFlightRecorder() throws Exception {
        // the program is a source file, which the compiler reads with the help of jdk.zipfs
        assertLoaded(Jvm.onClassPath(Jvm.libraryJar())
                .options("--limit-modules", "java.logging,java.management,jdk.compiler,jdk.zipfs")
                .run(PROGRAM));
    }

    @Test
    void runsOnTheModulePath() throws Exception {
        assertLoaded(onModulePath(Jvm.libraryJar())
                .options("--enable-native-access=" + MODULE)
                .run(PROGRAM));
    }

    @Test
    void isAModuleThatExportsItsPackages() throws Exception {
        Jvm.Finished finished = onModulePath(Jvm.libraryJar()).run("--describe-module", MODULE);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines().skip(1))
                .containsExactlyInAnyOrder(
                        "exports io.rpma",
                        "exports io.rpma.rdmacm",
                        "requires java.base mandated",
                        "requires jdk.jfr static",
                        "contains io.rpma.internal",
                        "contains io.rpma.internal.loop");
    }

    @Test
    @Tag("newer-jdk")
    @Tag("consumers")
    void namesTheOptionThatTheClassPathNeeds() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "native access can be denied from JDK 24 on");
        assertDenied(Jvm.onClassPathWithoutNativeAccess(Jvm.libraryJar()), "ALL-UNNAMED");
    }

    @Test
    @Tag("newer-jdk")
    @Tag("consumers")
    void namesTheOptionThatTheModulePathNeeds() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "native access can be denied from JDK 24 on");
        assertDenied(onModulePath(Jvm.libraryJar()), MODULE);
    }

    private static void assertDenied(Jvm jvm, String whom) throws Exception {
        Jvm.Finished finished = jvm.options("--illegal-native-access=deny").run(PROGRAM);
        assertThat(finished.status()).as(finished.toString()).isEqualTo(3);
        assertThat(finished.out())
                .startsWith("java.lang.UnsatisfiedLinkError: ")
                .containsPattern("start Java with --enable-native-access=" + whom + "\\R")
                .contains("cause: java.lang.IllegalCallerException");
    }

    @Test
    @Tag("newer-jdk")
    @Tag("consumers")
    void isDeniedNothingWithTheOption() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "native access can be denied from JDK 24 on");
        assertLoaded(Jvm.onClassPath(Jvm.libraryJar())
                .options("--illegal-native-access=deny")
                .run(PROGRAM));
    }
}
