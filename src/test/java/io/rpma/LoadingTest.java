// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.programs.ClassLoadersProgram;
import io.rpma.programs.CodeSourceProgram;
import io.rpma.programs.InterruptedProgram;
import io.rpma.programs.LoadAgainProgram;
import io.rpma.programs.LoadProgram;
import io.rpma.programs.NoThreadsProgram;
import io.rpma.programs.OtherPlatformProgram;
import io.rpma.programs.PackagesProgram;
import io.rpma.programs.RestoredPropertiesProgram;
import io.rpma.programs.ThreadLimitProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The loading of the library and the messages of failures. Each load runs in a new JVM. */
class LoadingTest {
    private static final int FAILED = 3;

    private static final String NOT_OF_THIS_RELEASE =
            ": this is not the native library of this release of rpma-java: omit -Dio.rpma.library";

    /** The bit of CAP_DAC_READ_SEARCH in the sets of capabilities. */
    private static final int READ_SEARCH = 1 << 2;

    @TempDir
    private Path directory;

    private static Jvm jvm() {
        return Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses());
    }

    /** Copies the library and its program, because the directory of this project can have any letters. */
    private Path[] copies() throws IOException {
        Path program = Path.of(LoadProgram.class.getName().replace('.', '/') + ".class");
        Path classes = directory.resolve("classes");
        Files.createDirectories(classes.resolve(program).getParent());
        Files.copy(Jvm.testClasses().resolve(program), classes.resolve(program));
        Path jar = Files.copy(Jvm.libraryJar(), directory.resolve("library.jar"));
        return new Path[] {jar, classes};
    }

    /**
     * Without the sanitizer, which would report that the C library leaks memory when it refuses a file that is no shim.
     */
    private static Jvm withNothingOfOurs(Path library) {
        return jvm().options("-Dio.rpma.library=" + library).withoutSanitizer();
    }

    private static Jvm.Finished load(Jvm jvm) throws InterruptedException {
        return jvm.run(LoadProgram.class);
    }

    private static void assertFails(Jvm.Finished finished, String... parts) {
        assertThat(finished.status()).as(finished.toString()).isEqualTo(FAILED);
        assertThat(finished.out())
                .startsWith("java.lang.UnsatisfiedLinkError: ")
                .contains(parts);
    }

    @Test
    void aLibraryThatTheUserNames() throws Exception {
        Path library = Files.write(directory.resolve("other name.so"), Librpma.shim());
        Jvm.Finished finished = load(jvm().options("-Dio.rpma.library=" + library, "-Djava.io.tmpdir=/nowhere"));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded, 1000 ms\n");
    }

    @Test
    void aFailureIsNotForGood() throws Exception {
        Path missing = directory.resolve("missing");
        Jvm.Finished finished = jvm().options("-Djava.io.tmpdir=" + missing)
                .run(
                        LoadAgainProgram.class,
                        missing.toString(),
                        directory.resolve("file").toString());
        assertThat(finished.status()).as(finished.toString()).isZero();
        List<String> lines = finished.out().lines().toList();
        int uses = lines.size() / 2;
        assertThat(lines.subList(0, uses))
                .hasSize(19)
                .allMatch(line ->
                        line.contains(": java.lang.UnsatisfiedLinkError: can't unpack the library into " + missing))
                .noneMatch(line -> line.contains("the first attempt failed"));
        assertThat(lines.get(uses))
                .startsWith("once more: java.lang.UnsatisfiedLinkError: -Dio.rpma.library=")
                .contains("; the first attempt failed: can't unpack the library into " + missing);
        assertThat(lines.subList(uses + 1, lines.size()))
                .hasSize(19)
                .noneMatch(line -> line.contains("LinkError") || line.contains("NoClassDefFoundError"))
                .contains(
                        "memory: done",
                        "file: done",
                        "peer cfg: done",
                        "srq cfg: done",
                        "completions: done",
                        "log: done");
    }

    @Test
    void aMomentWithoutThreadsIsNotForGood() throws Exception {
        Path file = directory.resolve("no threads");
        String library = CProgram.compile(directory, "nothread.c", "-shared", "-fPIC", "-ldl")
                .toString();
        Jvm.Finished finished = Jvm.likeThis()
                .preload(library)
                .environment("NO_THREADS", file.toString())
                .run(NoThreadsProgram.class, file.toString());
        assertWithoutThreads(finished, "");
    }

    /** Asserts that uses failed for lack of threads, and succeeded afterwards. */
    private static void assertWithoutThreads(Jvm.Finished finished, String limit) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines())
                .as(finished.toString())
                .anyMatch(line -> line.startsWith("without threads, ")
                        && line.contains("OutOfMemoryError: unable to create native thread")
                        && line.contains("; see ulimit -u (RLIMIT_NPROC=" + limit))
                .noneMatch(line -> line.contains("NoClassDefFoundError"))
                .contains("memory: done", "conn cfg: done", "peer cfg: done", "completions: done");
    }

    /** Returns whether the programs of root can get the capability to read each file. A container may lack it. */
    private static boolean canReadEachFile() throws IOException {
        String bounds = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("CapBnd:"))
                .findFirst()
                .orElseThrow();
        return (Long.parseUnsignedLong(bounds.split("\\s+")[1], 16) & READ_SEARCH) != 0;
    }

    /**
     * Runs as another user, because the limit counts the threads of a user and does not apply to root. No process has
     * this user, not even one of another run of this test. The user can't write the log of the JVM.
     */
    @Test
    void theLimitOfThreads() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can change the user");
        assumeTrue(canReadEachFile(), "root lacks CAP_DAC_READ_SEARCH");
        long user = 100_000 + ProcessHandle.current().pid();
        Jvm.Finished finished = Jvm.likeThis()
                .options("-XX:-LogVMOutput")
                .under(
                        "setpriv",
                        "--reuid=" + user,
                        "--inh-caps=-all,+dac_read_search",
                        "--ambient-caps=-all,+dac_read_search")
                .run(ThreadLimitProgram.class);
        String limit = finished.out()
                .lines()
                .filter(line -> line.startsWith("limit: "))
                .map(line -> line.substring("limit: ".length()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(finished));
        assertWithoutThreads(finished, limit + ")");
    }

    @Test
    void aLibraryThatIsMissing() throws Exception {
        Path library = directory.resolve("missing.so");
        assertFails(load(withNothingOfOurs(library)), library.toString());
    }

    @Test
    void aLibraryThatIsNone() throws Exception {
        Path library = Files.writeString(directory.resolve("text.so"), "this is no library".repeat(100));
        assertFails(load(withNothingOfOurs(library)), library.toString(), "invalid ELF header");
    }

    @Test
    void aLibraryThatIsEmpty() throws Exception {
        Path library = Files.createFile(directory.resolve("empty.so"));
        assertFails(load(withNothingOfOurs(library)), library.toString(), "file too short");
    }

    @Test
    void aLibraryThatIsNotTheShim() throws Exception {
        Path library = CProgram.compile(directory, "nothread.c", "-shared", "-fPIC", "-ldl");
        assertFails(load(jvm().options("-Dio.rpma.library=" + library)), library + NOT_OF_THIS_RELEASE);
    }

    /**
     * Such a shim has a method that these classes lack, or lacks a method that they have. HotSpot unloads it, and then
     * logs the name that it has freed.
     */
    @Tag("unsanitized")
    @ParameterizedTest
    @ValueSource(strings = {"methodOfAnotherRelease", "handleCount", "nativeCount"})
    void aShimOfAnotherRelease(String method) throws Exception {
        String include = Path.of(System.getProperty("java.home"), "include").toString();
        Path library = CProgram.compile(
                directory,
                "othershim.c",
                "-shared",
                "-fPIC",
                "-I" + include,
                "-I" + include + "/linux",
                "-DMETHOD=\"" + method + "\"");
        assertFails(load(jvm().options("-Dio.rpma.library=" + library)), library + NOT_OF_THIS_RELEASE);
    }

    @Test
    void aLibraryThatIsADirectory() throws Exception {
        assertFails(load(withNothingOfOurs(directory)), directory.toString());
    }

    /** Replaces the name of the needed library by a name of the same length that no system has. */
    @ParameterizedTest
    @CsvSource({"librpma.so.0, librpma.so.Z, librpma0", "libibverbs.so.1, libibverbs.so.Z, libibverbs1"})
    void aLibraryOfTheSystemThatIsMissing(String name, String missing, String debianPackage) throws Exception {
        String bytes = new String(Librpma.shim(), StandardCharsets.ISO_8859_1);
        assertThat(bytes).containsOnlyOnce(name + "\0");
        Path library = directory.resolve("patched.so");
        Files.write(library, bytes.replace(name + "\0", missing + "\0").getBytes(StandardCharsets.ISO_8859_1));

        assertFails(
                load(jvm().options("-Dio.rpma.library=" + library)),
                missing + ": cannot open shared object file",
                "not installed",
                debianPackage,
                "cause: java.lang.UnsatisfiedLinkError");
    }

    /** Compiles a librpma that has all functions except one. */
    private void compileIncompleteLibrpma(String missing, String version) throws Exception {
        String symbols = Tool.run(
                "nm",
                "--dynamic",
                "--undefined-only",
                Files.write(directory.resolve("shim.so"), Librpma.shim()).toString());
        String functions = Pattern.compile("\\brpma_\\w+")
                .matcher(symbols)
                .results()
                .map(MatchResult::group)
                .filter(function -> !function.equals(missing))
                .map(function -> "void " + function + "(void) {}\n")
                .collect(Collectors.joining());
        Path source = Files.writeString(directory.resolve("librpma.c"), functions);
        Path map = Files.writeString(directory.resolve("librpma.map"), version + " { global: *; };");
        Tool.run(
                "gcc",
                "-shared",
                "-fPIC",
                "-Wl,-soname,librpma.so.0",
                "-Wl,--version-script=" + map,
                "-o",
                directory.resolve("librpma.so.0").toString(),
                source.toString());
    }

    private Jvm.Finished loadWithLibrpmaOfDirectory(String... options) throws InterruptedException {
        return load(jvm().options(options).environment("LD_LIBRARY_PATH", directory.toString()));
    }

    @Test
    void anOldLibrpma() throws Exception {
        compileIncompleteLibrpma("rpma_srq_new", "LIBRPMA_0.14");
        assertFails(
                loadWithLibrpmaOfDirectory("-Dio.rpma.librpma=system"),
                directory.resolve("librpma.so.0") + " is librpma 0.14. rpma-java needs librpma 1.2 or later: librpma0");
    }

    @Test
    void aLibrpmaThatLacksAFunction() throws Exception {
        compileIncompleteLibrpma("rpma_srq_new", "LIBRPMA_1.0");
        assertFails(
                loadWithLibrpmaOfDirectory("-Dio.rpma.librpma=system"),
                "undefined symbol: rpma_srq_new",
                "the librpma that was found lacks this function. rpma-java needs librpma 1.2 or later: librpma0",
                "LD_LIBRARY_PATH");
    }

    @ParameterizedTest
    @ValueSource(strings = {"system", "chosen"})
    void aLibrpmaThatIsDamaged(String choice) throws Exception {
        Path librpma = Files.writeString(directory.resolve("librpma.so.0"), "this is no library".repeat(100));
        assertFails(
                loadWithLibrpmaOfDirectory("-Dio.rpma.librpma=" + choice.replace("chosen", librpma.toString())),
                librpma + ": invalid ELF header; this librpma is damaged");
    }

    /** The one of the jar is used instead. */
    @Test
    void anOldLibrpmaOfTheSystem() throws Exception {
        Librpma.assumeBundled();
        compileIncompleteLibrpma("rpma_srq_new", "LIBRPMA_0.14");
        Jvm.Finished finished = loadWithLibrpmaOfDirectory();
        assertThat(finished.status()).as(finished.toString()).isZero();
    }

    @Test
    void aTemporaryDirectoryThatIsMissing() throws Exception {
        Path missing = directory.resolve("missing");
        assertFails(
                load(jvm().options("-Djava.io.tmpdir=" + missing)),
                "can't unpack the library into " + missing,
                "-Djava.io.tmpdir",
                "-Dio.rpma.library");
    }

    @Test
    void aTemporaryDirectoryThatIsMountedNoexec() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount");
        // the dynamic linker fails in another language
        Path foreign = CProgram.compile(directory, "foreign.c", "-shared", "-fPIC");
        Path mounted = Files.createDirectory(directory.resolve("mounted"));
        String mount = "mount -t tmpfs -o noexec tmpfs '" + mounted + "' && exec \"$@\"";
        Jvm jvm = jvm().environment("LD_PRELOAD", foreign.toString())
                .under("unshare", "--mount", "sh", "-c", mount, "sh");
        assertFails(
                load(jvm.options("-Djava.io.tmpdir=" + mounted)),
                "ufiger Fehler; " + mounted + " seems to be mounted noexec",
                "-Djava.io.tmpdir",
                "-Dio.rpma.library");
    }

    @Test
    void aDirectoryWithLettersThatTheLocaleLacks() throws Exception {
        Path named = Files.createDirectory(directory.resolve("\u00e4"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), named);
        Path[] copies = copies();
        for (String option : List.of(
                "-Djava.io.tmpdir=" + named,
                "-Djava.io.tmpdir=" + link,
                "-Dio.rpma.library=" + named.resolve("librpma-java.so"),
                "-Dio.rpma.librpma=" + named.resolve("librpma.so.0"))) {
            assertFails(
                    load(Jvm.onClassPath(copies).environment("LC_ALL", "C").options(option)),
                    option.split("=")[0] + " has letters that the locale of this process lacks (",
                    "start Java in a locale with UTF-8, for example with LC_ALL=C.UTF-8\n");
        }
        Jvm.Finished finished = load(jvm().environment("LC_ALL", "C.UTF-8").options("-Djava.io.tmpdir=" + named));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(named).isEmptyDirectory();
    }

    @Test
    void nothingStaysInTheTemporaryDirectory() throws Exception {
        Jvm.Finished finished = load(jvm().options("-Djava.io.tmpdir=" + directory));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aJarWhoseUrlIsEncoded() throws Exception {
        Path jar = directory.resolve("a b%20+ü#1.jar");
        Files.copy(Jvm.libraryJar(), jar);
        Jvm.Finished finished = load(Jvm.onClassPath(jar, Jvm.testClasses()));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded, 1000 ms\n");
    }

    /** The class loader finds the shim, even if the code source is a directory, a nested jar or a replaced jar. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-",
                "file:/",
                "file:/nowhere/rpma-java.jar",
                "file:pom.xml",
                "file:/a b.jar",
                "file://host/rpma-java.jar",
                "jar:file:/app.jar!/lib/rpma-java.jar!/",
                "jrt:/io.rpma"
            })
    void classesThatAreFromNoJar(String place) throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.testClasses())
                .run(CodeSourceProgram.class, Jvm.libraryJar().toString(), place);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded\n");
    }

    @ParameterizedTest
    @CsvSource({"Windows 11, amd64", "Linux, riscv64"})
    void aPlatformThatHasNoLibrary(String os, String arch) throws Exception {
        // the program sets the properties: on the command line, they would change the JVM itself
        Jvm.Finished finished = jvm().run(OtherPlatformProgram.class, os, arch);
        assertThat(finished.out())
                .contains("rpma-java runs on Linux on x86_64 and aarch64, this is " + os + " on " + arch);
        assertThat(finished.status()).isEqualTo(FAILED);
    }

    @Test
    void aThreadThatIsInterruptedCanLoad() throws Exception {
        Jvm.Finished finished = jvm().run(InterruptedProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("loaded, 1000 ms\ninterrupted: true\n");
    }

    @Test
    void aSecondClassLoaderIsRefused() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.testClasses())
                .run(ClassLoadersProgram.class, Jvm.libraryJar().toString(), "-", "-", "-");
        assertThat(finished.status()).as(finished.toString()).isZero();
        String[] lines = finished.out().split("\n");
        assertThat(lines).hasSize(3);
        assertThat(lines[0]).isEqualTo("1: loaded");
        for (int i = 1; i < 3; i++) {
            assertThat(lines[i])
                    .contains("UnsatisfiedLinkError")
                    .contains("already loaded in this JVM by the class loader")
                    .contains("loader 1");
        }
    }

    private static List<String> loadWithRestoredProperties(String... options) throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.testClasses())
                .options(options)
                .run(RestoredPropertiesProgram.class, Jvm.libraryJar().toString());
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out().lines().toList();
    }

    private static String refusal(int loader, String owner) {
        return loader + ": java.lang.UnsatisfiedLinkError: rpma-java was already loaded in this JVM by " + owner
                + ", and librpma serves only one copy until the JVM ends: put one rpma-java jar where all users share it,"
                + " for example into the server's common library directory";
    }

    /** A copy that was refused stays in the process, so the next class loader loads none unless it must. */
    @Test
    void aSecondClassLoaderIsRefusedIfThePropertiesWereRestored() throws Exception {
        List<String> lines = loadWithRestoredProperties();
        assertThat(lines)
                .hasSize(6)
                .startsWith(
                        "1: loaded",
                        refusal(2, "the class loader loader 1"),
                        refusal(3, "the class loader loader 1"),
                        refusal(4, "the class loader loader 1"))
                .endsWith("3 shims");
        assertThat(lines.get(4)).as("librpma's message").contains("(PROVIDER): rdma_");
    }

    @Test
    void aSecondClassLoaderThatLoadsTheSameFileIsRefused() throws Exception {
        Path library = Files.write(directory.resolve("librpma-java.so"), Librpma.shim());
        assertThat(loadWithRestoredProperties("-Dio.rpma.library=" + library))
                .hasSize(6)
                .startsWith("1: loaded", refusal(2, "another class loader"))
                .endsWith("1 shims");
    }

    @Test
    void aClassLoaderThatFailedIsNotInTheWay() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.testClasses())
                .run(ClassLoadersProgram.class, Jvm.libraryJar().toString(), "/nowhere/lib.so", "-", "-");
        assertThat(finished.status()).as(finished.toString()).isZero();
        String[] lines = finished.out().split("\n");
        assertThat(lines).hasSize(3);
        assertThat(lines[0]).contains("UnsatisfiedLinkError").contains("/nowhere/lib.so");
        assertThat(lines[1]).isEqualTo("2: loaded");
        assertThat(lines[2]).contains("already loaded").contains("loader 2");
    }

    /**
     * Compiles a copy of the library in the package {@code moved.io.rpma}, also in strings, as build tools relocate
     * packages.
     */
    private Path compileMovedCopy() throws IOException {
        Path sources = directory.resolve("sources");
        List<String> files = new ArrayList<>();
        Path original = Path.of("src", "main", "java");
        try (Stream<Path> paths = Files.walk(original.resolve("io"))) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                Path copy = sources.resolve(original.relativize(path));
                Files.createDirectories(copy.getParent());
                Files.writeString(copy, Files.readString(path).replace("io.rpma", "moved.io.rpma"));
                files.add(copy.toString());
            }
        }
        Path classes = directory.resolve("classes");
        List<String> words = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString()));
        words.addAll(files);
        Tool.inThisJvm("javac", words.toArray(new String[0]));
        return classes;
    }

    @Test
    void classesInAnotherPackage() throws Exception {
        Path moved = compileMovedCopy();
        Jvm.Finished finished = Jvm.onClassPath(moved, Jvm.libraryJar(), Jvm.testClasses())
                .run(PackagesProgram.class, "moved.io.rpma", "io.rpma");
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines())
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo("moved.io.rpma: loaded"),
                        second -> assertThat(second)
                                .startsWith(
                                        "io.rpma: java.lang.UnsatisfiedLinkError: rpma-java was already loaded in this JVM")
                                .contains("librpma serves only one copy"));
    }

    /** As the tools change the names of properties, too. */
    @Test
    void aPropertyInAnotherPackage() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(compileMovedCopy(), Jvm.libraryJar(), Jvm.testClasses())
                .options("-Dmoved.io.rpma.library=/nowhere/lib.so")
                .run(PackagesProgram.class, "moved.io.rpma");
        assertThat(finished.out()).contains("-Dmoved.io.rpma.library=/nowhere/lib.so names no file");
    }
}
