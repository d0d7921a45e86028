// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LibrpmaProgram;
import io.rpma.programs.NewPeerProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import io.rpma.testing.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The choice between the librpma of the jar, the one of the system, and others. */
class LibrpmaTest {
    /** A source file, because it runs without the test classes on the module path. */
    private static final String PROGRAM = "src/test/java/io/rpma/programs/LibrpmaProgram.java";

    private static final String BUNDLED = "-Dio.rpma.librpma=bundled";
    private static final String LOADED = "loaded\nloaded\n";
    private static final String COPY = LOADED + "copy of librpma.so.0\n";

    @TempDir
    private Path directory;

    private static void assertPrints(String expected, Jvm.Finished finished) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo(expected);
    }

    private static Jvm jvm(Path library) {
        return Jvm.onClassPath(library, Jvm.testClasses());
    }

    private static Jvm jvm(String... options) {
        return jvm(Jvm.libraryJar()).options(options);
    }

    /** Both attempts to load the library fail. */
    private static void assertRefused(Jvm jvm, String... texts) throws InterruptedException {
        Jvm.Finished finished = jvm.run(LibrpmaProgram.class);
        assertThat(finished.out().lines().limit(2))
                .hasSize(2)
                .allSatisfy(attempt -> assertThat(attempt).contains(texts));
    }

    @Test
    void theOneOfTheSystemIsPreferred() throws Exception {
        assertPrints(LOADED + Librpma.ofSystem() + "\n", jvm().run(LibrpmaProgram.class));
    }

    @Test
    void theSystemHasNone() throws Exception {
        Librpma.assumeBundled();
        Jvm jvm = jvm().environment("LD_LIBRARY_PATH", Librpma.hiding(directory));
        assertPrints(COPY, jvm.run(LibrpmaProgram.class));
    }

    @Test
    void thereIsNone() throws Exception {
        Jvm jvm = jvm(Librpma.jarWithout(directory)).environment("LD_LIBRARY_PATH", Librpma.hiding(directory));
        assertRefused(
                jvm,
                "this librpma is damaged",
                "librpma0 on Debian and Ubuntu",
                "or the one of a jar that was built with it");
        assertRefused(jvm.options(BUNDLED), "librpma.so.0 is not in the jar", "librpma0 on Debian and Ubuntu");
    }

    @Test
    void theOneOfTheJarIsChosen() throws Exception {
        Librpma.assumeBundled();
        assertPrints(COPY, jvm(BUNDLED).run(LibrpmaProgram.class));
    }

    /** A variable that is meant for another program does not change the choice. */
    @Test
    void theOneOfTheJarGoesBeforeLdLibraryPath() throws Exception {
        Librpma.assumeBundled();
        Jvm jvm = jvm(BUNDLED).environment("LD_LIBRARY_PATH", Librpma.hiding(directory));
        assertPrints(COPY, jvm.run(LibrpmaProgram.class));
    }

    @Test
    void theOneOfTheJarInAModule() throws Exception {
        Librpma.assumeBundled();
        Jvm jvm = Jvm.onModulePathWithoutNativeAccess("io.rpma", Jvm.libraryJar());
        assertPrints(
                COPY, jvm.options("--enable-native-access=io.rpma", BUNDLED).run(PROGRAM));
    }

    @Test
    void theOneOfTheSystemIsChosen() throws Exception {
        Jvm jvm = jvm("-Dio.rpma.librpma=system");
        assertPrints(LOADED + Librpma.ofSystem() + "\n", jvm.run(LibrpmaProgram.class));
        assertRefused(
                jvm.environment("LD_LIBRARY_PATH", Librpma.hiding(directory)),
                "this librpma is damaged",
                "librpma0 on Debian and Ubuntu");
    }

    @Test
    void aPathIsChosen() throws Exception {
        Path other = Files.copy(Librpma.ofSystem(), directory.resolve("librpma.so.of mine"));
        assertPrints(
                LOADED + other.toRealPath() + "\n",
                jvm("-Dio.rpma.librpma=" + other).run(LibrpmaProgram.class));
    }

    @Test
    void aPathThatCanNotBeRead() throws Exception {
        assertRefused(jvm("-Dio.rpma.librpma=Bundled"), "-Dio.rpma.librpma=Bundled names no file that can be read");
    }

    /** The user unpacks the shim because the library can't. */
    @Test
    void theShimIsNotUnpacked() throws Exception {
        Path shim = Files.write(directory.resolve("shim.so"), Librpma.shim());
        Jvm jvm = jvm("-Dio.rpma.library=" + shim, "-Djava.io.tmpdir=/nowhere");
        assertPrints(LOADED + Librpma.ofSystem() + "\n", jvm.run(LibrpmaProgram.class));
        assertRefused(jvm.options(BUNDLED), "-Dio.rpma.librpma needs the shim of the jar: omit -Dio.rpma.library");
        Path next = Files.copy(Librpma.ofSystem(), directory.resolve(Librpma.NAME));
        assertPrints(
                LOADED + next.toRealPath() + "\n",
                jvm("-Dio.rpma.library=" + shim).run(LibrpmaProgram.class));
    }

    /** The program makes a peer only with the librpma that does nothing, which it loads first. */
    @Test
    void anotherLibraryHasLoadedLibrpma() throws Exception {
        Librpma.assumeBundled();
        assertPrints(
                "made RpmaPeer\n",
                jvm(BUNDLED).run(NewPeerProgram.class, CProgram.noopLibrpma().toString()));
    }

    @Test
    void rdmaCoreIsMissing() throws Exception {
        byte[] librpma = Files.readAllBytes(Librpma.ofSystem());
        Path other = Files.write(
                directory.resolve(Librpma.NAME), Librpma.replace(librpma, "libibverbs.so.1", "libibverbs.so.Z"));
        assertRefused(
                jvm("-Dio.rpma.librpma=" + other),
                "libibverbs.so.Z: cannot open shared object file",
                "rdma-core is not installed or too old: libibverbs1");
    }

    /** Makes a librpma with native flush that does nothing. */
    private Path nativeLibrpma() throws Exception {
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
        return library;
    }

    /** librpma is preloaded, so the guard does not keep it from functions that its queue pairs lack. */
    @Test
    void aLibrpmaThatIsThereFirstNeedsANewerRdmaCore() throws Exception {
        Path libibverbs = CProgram.compile(directory, "otherverbs.c", "-shared", "-fPIC", "-DFUNCTIONS=1");
        Path librpma = nativeLibrpma();
        Jvm.Finished finished =
                jvm().preload(libibverbs.toString(), librpma.toString()).run(NewPeerProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out())
                .startsWith("io.rpma.RpmaException: rpma_peer_new failed: ")
                .contains("(NOSUPP): librpma (" + librpma.toRealPath()
                        + ") was built with native flush and with rdma-core 45 or later")
                .contains("queue pairs of rdma-core 44 (")
                .contains("; install rdma-core 45 or later, or start the program so that no other library and no"
                        + " LD_PRELOAD loads");
    }
}
