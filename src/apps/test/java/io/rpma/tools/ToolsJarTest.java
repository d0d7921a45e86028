// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.internal.Loader;
import io.rpma.testing.Jvm;
import io.rpma.testing.Sbom;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The jar of the tools, as users get it. */
class ToolsJarTest {
    private static List<String> names() throws IOException {
        try (JarFile jar = new JarFile(Jvm.toolsJar().toFile())) {
            return jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(ZipEntry::getName)
                    .toList();
        }
    }

    @Test
    void hasAllPartsAndNothingOfTheTests() throws IOException {
        assertThat(names())
                .doesNotHaveDuplicates()
                .contains("io/rpma/RpmaConn.class", "io/rpma/tools/Tools.class", "io/rpma/support/Program.class")
                .contains(Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"))
                        .substring(1))
                .contains(
                        "META-INF/LICENSE",
                        "META-INF/licences/README.txt",
                        "META-INF/licences/Apache-2.0.txt",
                        "META-INF/licences/HdrHistogram/META-INF/LICENSE.txt")
                .noneMatch(name -> name.matches(".*(Test|IT|Fuzz)(\\$.*)?\\.class|.*module-info\\.class"))
                .allMatch(name -> name.matches("META-INF/.*|native/rxe|src/bed/[-.\\w]+"
                        + "|io/rpma/([\\w$-]+|(rdmacm|internal(/loop)?|tools(/\\w+)?|support)/[\\w$-]+)\\.class"
                        + "|(picocli|com/google/gson|org/HdrHistogram)/.*\\.class"));
    }

    @Test
    void hasEachScript() throws IOException {
        try (Stream<Path> scripts = Files.list(Path.of("src", "bed"))) {
            assertThat(names())
                    .contains("native/rxe")
                    .containsAll(scripts.filter(Files::isRegularFile)
                            .map(Path::toString)
                            .toList());
        }
    }

    /** The components are the files of the class path that have a class in the jar. */
    @Test
    void itsSbomHasEachLibrary() throws IOException {
        Set<String> classes = new HashSet<>(names());
        classes.removeIf(name -> !name.endsWith(".class") || name.startsWith("io/rpma/"));
        List<String> libraries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (entry.endsWith(".jar")) {
                try (JarFile library = new JarFile(entry)) {
                    if (library.stream().map(ZipEntry::getName).anyMatch(classes::contains)) {
                        libraries.add(entry);
                    }
                }
            }
        }
        List<String> packages =
                Sbom.of(Jvm.toolsJar(), "rpma-java-tools.cdx.json").values("purl");
        Matcher tools = Pattern.compile("pkg:maven/io\\.github\\.rpma-java/rpma-java@(.*)\\?classifier=tools&type=jar")
                .matcher(packages.get(0));
        assertThat(tools.matches()).as(packages.get(0)).isTrue();
        assertThat(Jvm.toolsJar()).hasFileName("rpma-java-" + tools.group(1) + "-tools.jar");
        List<String> listed = packages.subList(1, packages.size());
        assertThat(listed).hasSameSizeAs(libraries).hasSizeGreaterThanOrEqualTo(3);
        for (String name : listed) {
            assertThat(libraries).as(name).anyMatch(library -> library.endsWith(inRepository(name)));
        }
    }

    /** The path of a package, which is as pkg:maven/GROUP/NAME@VERSION?type=jar, in a repository of Maven. */
    private static String inRepository(String purl) {
        String[] parts = purl.split("[:/@?]");
        return "/" + parts[2].replace('.', '/') + "/" + parts[3] + "/" + parts[4] + "/" + parts[3] + "-" + parts[4]
                + ".jar";
    }

    @Test
    void startsTheToolsWithNativeAccess() throws IOException {
        try (JarFile jar = new JarFile(Jvm.toolsJar().toFile())) {
            Attributes attributes = jar.getManifest().getMainAttributes();
            assertThat(attributes.getValue("Main-Class")).isEqualTo(Tools.class.getName());
            assertThat(attributes.getValue("Enable-Native-Access")).isEqualTo("ALL-UNNAMED");
        }
    }

    @Test
    void itsVersion() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run("--version");
        assertThat(end.out()).matches("rpma-java \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?\n");
        assertThat(end.status()).as(end.toString()).isZero();
    }

    @Test
    void itsHelpNamesEachCommand() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run("--help");
        assertThat(end.out())
                .contains("  info ", "  doctor ", "  selftest ", "  ping ", "  perf ", "  rxe ")
                .contains("Exit status:");
        assertThat(end.out().lines()).allMatch(line -> line.length() <= 80);
        assertThat(end.out()).as("no colours without a terminal").doesNotContain("\u001b");
        assertThat(end.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "'', Missing required subcommand",
        "nothing, 'nothing' is no command",
        "info --jsn, Unknown option: '--jsn'",
        "selftest --listen, --listen needs ADDRESS",
        "'selftest 10.0.0.1 --peer 10.0.0.2', '--peer finds the device: omit ADDRESS'",
        "'selftest --port 65534', '--port must be 1 to 65533'",
        "doctor 10.0.0.1 10.0.0.2, the argument '10.0.0.2' is superfluous",
    })
    void aWrongCommandLine(String arguments, String message) throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        assertThat(end.err()).contains(message).contains("--help").hasLineCount(1);
        assertThat(end.out()).isEmpty();
        assertThat(end.status()).isEqualTo(2);
    }
}
