// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.OsgiProgram;
import io.rpma.testing.Jdk;
import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.felix.framework.FrameworkFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.loader.launch.JarLauncher;

/**
 * An application, {@code src/it/consumer/application}, in each form in which applications use the jar. JDKs that can do
 * so deny native access that was not enabled.
 */
@Tag("stand-in")
@Tag("consumers")
class PackagingTest {
    private static final Path SOURCES = Path.of("src/it/consumer");
    private static final String MODULE = "org.example.application";
    private static final String MAIN = MODULE + ".Main";
    private static final String MAIN_IN_MODULE = MODULE + "/" + MAIN;
    private static final String LIBRARY = "io.rpma";
    private static final String CLASS_PATH = "ALL-UNNAMED";

    private static final String GREETING = "Hello, remote memory!\n";

    /** The package into which the build relocates the library: see pom.xml. */
    private static final String RELOCATED = "org.example.relocated.rpma";

    @TempDir
    private static Path common;

    private static Path classes;
    private static Path application;

    @TempDir
    private Path directory;

    /** A jar that is a module, a bundle, and the program of {@code java -jar}. */
    @BeforeAll
    static void buildApplication() throws IOException {
        classes = compile(common.resolve("classes"), Jvm.libraryJar(), sources(SOURCES.resolve("application")));
        application = jar(common.resolve("application.jar"), classes, """
                Main-Class: %s
                Class-Path: %s
                Enable-Native-Access: ALL-UNNAMED
                Bundle-ManifestVersion: 2
                Bundle-SymbolicName: %s
                Import-Package: io.rpma
                """.formatted(
                        MAIN, Jvm.libraryJar().getFileName(), MODULE));
        Files.copy(Jvm.libraryJar(), common.resolve(Jvm.libraryJar().getFileName()));
    }

    private static List<Path> sources(Path root) throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(Files::isRegularFile).collect(Collectors.toList());
        }
    }

    private static Path compile(Path result, Path library, List<Path> sources) {
        Stream<String> options = Stream.of("--release", "17", "-Xlint:all", "-Werror", "-proc:none", "-d");
        Tool.inThisJvm(
                "javac",
                Stream.concat(
                                Stream.concat(
                                        options,
                                        Stream.of(
                                                result.toString(),
                                                "-p",
                                                library.toString(),
                                                "-cp",
                                                library.toString())),
                                sources.stream().map(Path::toString))
                        .toArray(String[]::new));
        return result;
    }

    private static Path jar(Path result, Path content, String manifest) throws IOException {
        Path attributes = Files.writeString(content.resolveSibling("manifest"), manifest);
        // Spring Boot's loader requires that nested jars are not compressed
        Tool.inThisJvm(
                "jar",
                "--create",
                "--no-compress",
                "--file",
                result.toString(),
                "--manifest",
                attributes.toString(),
                "-C",
                content.toString(),
                ".");
        return result;
    }

    static List<Jdk> jdks() {
        return Jdk.installed();
    }

    static List<Jdk> jdksWithSegments() {
        return jdks().stream().filter(jdk -> jdk.feature() >= 22).collect(Collectors.toList());
    }

    static List<Jdk> strictJdks() {
        return jdks().stream().filter(Jdk::deniesNativeAccess).collect(Collectors.toList());
    }

    private static Jvm strict(Jdk jdk, Jvm jvm) {
        return jdk.deniesNativeAccess() ? jvm.options("--illegal-native-access=deny") : jvm;
    }

    /** The tests of devices run with the librpma of the system. */
    private static Jvm.Finished run(Jvm jvm, String... program) throws InterruptedException {
        return jvm.options(Librpma.option())
                .run(Stream.concat(
                                Stream.of(program),
                                Stream.of(TestDevice.address(), Integer.toString(TestDevice.port())))
                        .toArray(String[]::new));
    }

    private static void assertTransfers(Jvm jvm, String... program) throws InterruptedException {
        assertPrints(run(jvm, program), GREETING);
    }

    private static void assertPrints(Jvm.Finished finished, String expected) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo(expected);
        assertThat(finished.err()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("newer-jdk")
    void theClassPath(Jdk jdk) throws Exception {
        assertTransfers(
                strict(jdk, Jvm.of(jdk.home()))
                        .options("-cp", Jvm.join(classes, Jvm.libraryJar()), "--enable-native-access=" + CLASS_PATH),
                MAIN);
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("newer-jdk")
    void theModulePath(Jdk jdk) throws Exception {
        assertTransfers(
                strict(jdk, Jvm.of(jdk.home()))
                        .options("-p", Jvm.join(application, Jvm.libraryJar()), "--enable-native-access=" + LIBRARY),
                "-m",
                MAIN_IN_MODULE);
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("strictJdks")
    @Tag("newer-jdk")
    void nativeAccessOfTheApplicationsModuleDoesNotSuffice(Jdk jdk) throws Exception {
        Jvm.Finished finished = run(
                strict(jdk, Jvm.of(jdk.home()))
                        .options("-p", Jvm.join(application, Jvm.libraryJar()), "--enable-native-access=" + MODULE),
                "-m",
                MAIN_IN_MODULE);
        assertThat(finished.status()).as(finished.toString()).isEqualTo(1);
        assertThat(finished.err()).contains("start Java with --enable-native-access=" + LIBRARY);
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("newer-jdk")
    void theManifestOfTheApplication(Jdk jdk) throws Exception {
        assertTransfers(strict(jdk, Jvm.of(jdk.home())), "-jar", application.toString());
    }

    @ParameterizedTest
    @MethodSource("jdks")
    void aLinkedImage(Jdk jdk) throws Exception {
        assertTransfers(linkedImage(jdk, MODULE, application, Jvm.libraryJar()), "-m", MAIN_IN_MODULE);
    }

    private Jvm linkedImage(Jdk jdk, String modules, Path... modulePath) throws Exception {
        Path image = directory.resolve("image");
        String options = "--add-modules=" + modules + " --enable-native-access=" + LIBRARY
                + (jdk.deniesNativeAccess() ? " --illegal-native-access=deny" : "");
        Tool.run(
                jdk.tool("jlink"),
                "--module-path",
                Jvm.join(modulePath),
                "--add-modules",
                modules,
                // JDK 17 takes a value that begins with a hyphen for another option
                "--add-options= " + options,
                "--output",
                image.toString());
        return Jvm.of(image);
    }

    /**
     * As spring-boot-maven-plugin packages an application: the jars are nested, and Spring's class loader reads them.
     */
    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("newer-jdk")
    void aJarInAJarOfSpringBoot(Jdk jdk) throws Exception {
        assertTransfers(
                strict(jdk, Jvm.of(jdk.home())), "-jar", boot(Jvm.libraryJar()).toString());
    }

    private Path boot(Path... nested) throws IOException {
        Path content = Files.createDirectory(directory.resolve("content"));
        unpack(Jvm.placeOf(JarLauncher.class), content);
        unpack(application, content.resolve("BOOT-INF/classes"));
        Path libraries = Files.createDirectory(content.resolve("BOOT-INF/lib"));
        for (Path jar : nested) {
            Files.copy(jar, libraries.resolve(jar.getFileName()));
        }
        return jar(directory.resolve("boot.jar"), content, """
                Main-Class: %s
                Start-Class: %s
                Spring-Boot-Classes: BOOT-INF/classes/
                Spring-Boot-Lib: BOOT-INF/lib/
                Enable-Native-Access: ALL-UNNAMED
                """.formatted(JarLauncher.class.getName(), MAIN));
    }

    private static void unpack(Path archive, Path target) throws IOException {
        try (JarFile jar = new JarFile(archive.toFile())) {
            for (JarEntry entry : jar.stream()
                    .filter(entry -> entry.getName().endsWith(".class"))
                    .collect(Collectors.toList())) {
                Path file = target.resolve(entry.getName());
                Files.createDirectories(file.getParent());
                try (InputStream bytes = jar.getInputStream(entry)) {
                    Files.copy(bytes, file);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("newer-jdk")
    void aBundleOfOsgi(Jdk jdk) throws Exception {
        assertTransfersInOsgi(Jvm.of(jdk.home()), jdk, Jvm.libraryJar());
    }

    private void assertTransfersInOsgi(Jvm ofJdk, Jdk jdk, Path... bundles) throws Exception {
        String version;
        try (JarFile jar = new JarFile(Jvm.libraryJar().toFile())) {
            version = jar.getManifest().getMainAttributes().getValue("Implementation-Version");
        }
        Jvm jvm = strict(jdk, ofJdk)
                .options(
                        "-cp",
                        Jvm.join(Jvm.placeOf(FrameworkFactory.class), Jvm.testClasses()),
                        "--enable-native-access=" + CLASS_PATH);
        Jvm.Finished finished = run(
                jvm,
                OsgiProgram.class.getName(),
                directory.resolve("framework").toString(),
                Stream.of(bundles).map(bundle -> bundle.toUri().toString()).collect(Collectors.joining(" ")),
                application.toUri().toString(),
                MAIN);
        assertThat(finished.status()).as(finished.toString()).isZero();
        // the framework causes warnings of newer JDKs
        assertThat(finished.out()).isEqualTo("io.rpma " + version.replace('-', '.') + "\n" + GREETING);
    }

    /** The build relocates the classes with maven-shade-plugin. */
    @ParameterizedTest
    @MethodSource("jdks")
    void aShadedJarWithRelocation(Jdk jdk) throws Exception {
        Path source = directory.resolve("Main.java");
        Files.writeString(
                source,
                Files.readString(SOURCES.resolve("application/org/example/application/Main.java"))
                        .replace("import io.rpma.", "import " + RELOCATED + "."));
        Path relocated = Jvm.libraryJar().resolveSibling("relocated.jar");
        Path moved = compile(directory.resolve("classes"), relocated, List.of(source));
        assertTransfers(
                strict(jdk, Jvm.of(jdk.home()))
                        .options("-cp", Jvm.join(moved, relocated), "--enable-native-access=" + CLASS_PATH),
                MAIN);
    }

    /** The segments have more bytes than a buffer can have. */
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("jdksWithSegments")
    @Tag("newer-jdk")
    void memorySegments(Jdk jdk) throws Exception {
        Jvm jvm = strict(jdk, Jvm.of(jdk.home()))
                .options("-cp", Jvm.libraryJar().toString(), "--enable-native-access=" + CLASS_PATH);
        Jvm.Finished finished = jvm.run(
                SOURCES.resolve("segments/Segments.java").toString(),
                TestDevice.address(),
                Integer.toString(TestDevice.port()),
                Long.toString(3L << 30));
        assertPrints(finished, "arrived: 42\npart: 42, region: 8\nafter the close: 42\nunmapped\n");
    }
}
