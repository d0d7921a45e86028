// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LibrpmaProgram;
import io.rpma.programs.NewPeerProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.LibrpmaJar;
import io.rpma.testing.Tool;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The choice between the librpma of the artifact and the one of the system. {@code PackagingTest} writes with the
 * former.
 */
class LibrpmaArtifactTest {
    /** A source file, because it runs without the test classes on the module path. */
    private static final String PROGRAM = "src/test/java/io/rpma/programs/LibrpmaProgram.java";

    private static final String LOADED = "loaded\nloaded\n";
    private static final String COPY = LOADED + "copy of librpma.so.0\n";

    @TempDir
    private Path directory;

    private static void assertPrints(Jvm.Finished finished, String expected) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo(expected);
    }

    private static Jvm jvm(Path library, Path... artifacts) {
        Path[] entries = new Path[artifacts.length + 2];
        entries[0] = library;
        entries[1] = Jvm.testClasses();
        System.arraycopy(artifacts, 0, entries, 2, artifacts.length);
        return Jvm.onClassPath(entries);
    }

    private static Jvm.Finished onClassPath(Path library, Path artifact) throws InterruptedException {
        return jvm(library, artifact).run(LibrpmaProgram.class);
    }

    @Test
    void theArtifactIsPreferred() throws Exception {
        assertPrints(onClassPath(Jvm.libraryJar(), LibrpmaJar.make(directory)), COPY);
    }

    @Test
    void theSystemHasNone() throws Exception {
        Jvm jvm = jvm(Jvm.libraryJar(), LibrpmaJar.make(directory));
        assertPrints(
                jvm.environment("LD_LIBRARY_PATH", LibrpmaJar.hiding(directory)).run(LibrpmaProgram.class), COPY);
    }

    @Test
    void thereIsNone() throws Exception {
        Jvm.Finished finished = jvm(Jvm.libraryJar())
                .environment("LD_LIBRARY_PATH", LibrpmaJar.hiding(directory))
                .run(LibrpmaProgram.class);
        assertThat(finished.out().lines())
                .hasSize(2)
                .allSatisfy(attempt -> assertThat(attempt)
                        .contains("librpma is not installed")
                        .contains("librpma0 on Debian and Ubuntu")
                        .contains("the artifact rpma-java with the classifier librpma (module io.rpma.librpma)"));
    }

    /** A module path alone resolves no module. */
    @Test
    void aModuleThatIsRequired() throws Exception {
        Path artifact = LibrpmaJar.make(directory);
        Jvm required = Jvm.onModulePathWithoutNativeAccess("io.rpma,io.rpma.librpma", Jvm.libraryJar(), artifact);
        assertPrints(required.options("--enable-native-access=io.rpma").run(PROGRAM), COPY);
        Jvm ignored = Jvm.onModulePathWithoutNativeAccess("io.rpma", Jvm.libraryJar(), artifact);
        assertPrints(
                ignored.options("--enable-native-access=io.rpma").run(PROGRAM), LOADED + LibrpmaJar.ofSystem() + "\n");
    }

    /** The user unpacks the shim because the library can't. */
    @Test
    void theShimIsNotUnpacked() throws Exception {
        Path shim = Files.write(directory.resolve("shim.so"), LibrpmaJar.shim());
        Jvm jvm = jvm(Jvm.libraryJar(), LibrpmaJar.make(directory))
                .options("-Dio.rpma.library=" + shim, "-Djava.io.tmpdir=/nowhere");
        assertPrints(jvm.run(LibrpmaProgram.class), LOADED + LibrpmaJar.ofSystem() + "\n");
    }

    /** The program makes a peer only with the librpma that does nothing, which it loads first. */
    @Test
    void anotherLibraryHasLoadedLibrpma() throws Exception {
        Jvm jvm = jvm(Jvm.libraryJar(), LibrpmaJar.make(directory));
        assertPrints(jvm.run(NewPeerProgram.class, CProgram.noopLibrpma().toString()), "made RpmaPeer\n");
    }

    @Test
    void theArtifactIsLoadedOnce() throws Exception {
        Path library = LibrpmaJar.libraryWith(
                directory, "this is no library".repeat(100).getBytes(StandardCharsets.UTF_8));
        Jvm.Finished finished = onClassPath(library, LibrpmaJar.make(directory));
        assertThat(finished.out().lines())
                .satisfiesExactly(
                        first -> assertThat(first).contains("invalid ELF header"),
                        second -> assertThat(second).contains("invalid ELF header"),
                        mapped -> assertThat(mapped).isEqualTo("copy of librpma.so.0"));
    }

    /** The temporary directory is a symbolic link: messages have the path without links. */
    @Test
    void rdmaCoreIsMissing() throws Exception {
        Path link = Files.createSymbolicLink(
                directory.resolve("link"), Files.createDirectory(directory.resolve("temporary")));
        byte[] librpma =
                LibrpmaJar.replace(Files.readAllBytes(LibrpmaJar.ofSystem()), "libibverbs.so.1", "libibverbs.so.Z");
        Jvm.Finished finished = jvm(Jvm.libraryJar(), LibrpmaJar.make(directory, librpma))
                .options("-Djava.io.tmpdir=" + link)
                .run(LibrpmaProgram.class);
        assertThat(finished.out())
                .startsWith("io.rpma.librpma: libibverbs.so.Z: cannot open shared object file")
                .contains("rdma-core is not installed or too old: libibverbs1")
                .doesNotContain("librpma0");
    }

    /** Makes a librpma with native flush that does nothing. */
    private byte[] nativeLibrpma() throws Exception {
        Path object = CProgram.compile(directory, "nativerpma.c", "-c", "-fPIC", "-DNATIVE_FLUSH");
        Path flush = directory.resolve("nativerpma.o");
        Files.move(object, flush);
        Path library = directory.resolve("native-librpma.so");
        Tool.run(
                "gcc",
                "-shared",
                "-fPIC",
                "-D_GNU_SOURCE",
                "-Wl,-soname,librpma.so.0",
                "-Wl,--version-script,src/test/c/noop/noop-librpma.map",
                "-Wl,--allow-multiple-definition",
                "-o",
                library.toString(),
                flush.toString(),
                "src/test/c/noop/noop-librpma.c",
                "src/test/c/noop/noop-rdmacm.c");
        return Files.readAllBytes(library);
    }

    @Test
    void theArtifactNeedsANewerRdmaCore() throws Exception {
        Path libibverbs = CProgram.compile(directory, "otherverbs.c", "-shared", "-fPIC", "-DFUNCTIONS=1");
        Path artifact = LibrpmaJar.make(directory, nativeLibrpma());
        Jvm.Finished finished =
                jvm(Jvm.libraryJar(), artifact).preload(libibverbs.toString()).run(NewPeerProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out())
                .startsWith("io.rpma.RpmaException: rpma_peer_new failed: ")
                .contains(
                        "(NOSUPP): librpma (io.rpma.librpma) was built with native flush and with rdma-core 45 or later")
                .contains("queue pairs of rdma-core 44 (" + libibverbs.toRealPath() + ")")
                .contains("; install rdma-core 45 or later, or install librpma from the distribution and remove the"
                        + " artifact with the classifier librpma");
    }
}
