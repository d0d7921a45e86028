// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.internal.Loader;
import io.rpma.testing.Document;
import io.rpma.testing.Librpma;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Compares the tables and programs of the documents with librpma's symbols and the tested sources. */
class DocumentTest {
    /** A row of the table: | `prefix` | names without the prefix | Java | */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(rpma_\\w*)` \\|([^|]*)\\|");

    /** A call in the source of a test. */
    private static final Pattern READ_BLOCK = Pattern.compile("Document\\s*\\.(\\w+)\\s*\\.block\\(\"([^\"]+)\"\\)");

    private static final Path CONSUMER = Path.of("src/it/consumer/greeting");

    private static List<String> table() throws IOException {
        List<String> functions = new ArrayList<>();
        Matcher row = ROW.matcher(Document.FUNCTIONS.section("librpma"));
        while (row.find()) {
            String prefix = row.group(1);
            names(row.group(2)).map(prefix::concat).forEach(functions::add);
        }
        return functions;
    }

    private static Stream<String> names(String cell) {
        return Stream.of(cell.split("[^\\w]+")).filter(name -> !name.isEmpty());
    }

    /** Returns the functions in the output of nm. A line can end with the version of the symbol. */
    private static List<String> functions(String symbols) {
        return Pattern.compile("(?m)^.* [TU] (rpma_\\w+)(?:@.*)?$")
                .matcher(symbols)
                .results()
                .map((MatchResult result) -> result.group(1))
                .collect(Collectors.toList());
    }

    private static List<String> imported() throws Exception {
        String resource = Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        Path shim = Path.of(Loader.class.getResource(resource).toURI());
        return functions(Tool.run("nm", "--dynamic", "--undefined-only", shim.toString()));
    }

    private static List<String> exported() throws Exception {
        return functions(
                Tool.run("nm", "--dynamic", "--defined-only", Librpma.ofSystem().toString()));
    }

    @Test
    void theShimImportsEveryFunction() throws Exception {
        assertThat(imported()).hasSize(84).containsExactlyInAnyOrderElementsOf(exported());
    }

    /** {@code EventLoopIT} runs {@code EchoServer}, and {@code GuideTest} compares the server of the guide with it. */
    @Test
    void theServerOfTheJavadocIsTheOneThatIsTested() throws IOException {
        Matcher shown = Pattern.compile("(?ms)^ \\* <pre>\\{@code$\\R(.*?)^ \\* }</pre>$")
                .matcher(Files.readString(Path.of("src/main/java/io/rpma/RpmaEventLoop.java")));
        assertThat(shown.find()).isTrue();
        String server =
                shown.group(1).lines().map(line -> line.substring(3) + "\n").collect(Collectors.joining());
        assertThat(server).contains("loop.run()");
        assertThat(Files.readString(Path.of("src/it/java/io/rpma/EchoServer.java")))
                .contains(server.indent(8));
    }

    /** A block without a name has no test. */
    @Test
    void everyBlockIsReadByATest() throws IOException {
        Set<String> read = new HashSet<>();
        for (String root : List.of(
                "src/test/java", "src/it/java", "src/apps/test/java", "src/apps/it/java", "src/ratis/it/java")) {
            try (Stream<Path> paths = Files.walk(Path.of(root))) {
                for (Path source : paths.filter(Files::isRegularFile).collect(Collectors.toList())) {
                    READ_BLOCK
                            .matcher(Files.readString(source))
                            .results()
                            .forEach(block -> read.add(block.group(1) + " " + block.group(2)));
                }
            }
        }
        List<String> shown = new ArrayList<>();
        for (Document document : Document.values()) {
            document.blockNames().forEach(name -> shown.add(document + " " + name));
        }
        assertThat(shown).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(read);
    }

    @Test
    void theDependencyIsThatOfTheProjectWhichIsTested() throws IOException {
        assertThat(Files.readString(CONSUMER.resolve("pom.xml")))
                .contains(Document.README.block("dependency").indent(4));
    }

    @Test
    void theProgramAndTheTaskAreTheOnesThatAreTested() throws IOException {
        assertThat(CONSUMER.resolve("rdma/bin/java")).hasContent(Document.OWN_PROJECT.block("java"));
        assertThat(CONSUMER.resolve("build.gradle")).content().contains(Document.OWN_PROJECT.block("task"));
    }

    @Test
    void eachVersionIsThatOfTheBuild() throws IOException {
        String version = versions(Files.readString(Path.of("pom.xml"))).get(0);
        for (Path file : List.of(CONSUMER.resolve("pom.xml"), CONSUMER.resolve("build.gradle"))) {
            assertThat(versions(Files.readString(file))).as(file.toString()).containsExactly(version);
        }
        for (String project : List.of("apps", "ratis")) {
            assertThat(Path.of("src", project, "pom.xml"))
                    .content()
                    .contains("\n  <version>" + version + "</version>\n");
        }
        assertThat(versions(Files.readString(Path.of("docs/tools.md"))))
                .isNotEmpty()
                .allMatch(version::equals);
        for (Document document : Document.values()) {
            assertThat(versions(document.text())).as(document.toString()).allMatch(version::equals);
        }
    }

    /** Returns the versions of the library that a text names. */
    private static List<String> versions(String text) {
        return Pattern.compile("rpma-java(?:[-:]|</artifactId>\\s*<version>)(\\d[\\w.]*(?:-SNAPSHOT)?)(?=\\.jar|\\W)")
                .matcher(text)
                .results()
                .map((MatchResult version) -> version.group(1))
                .collect(Collectors.toList());
    }

    @Test
    void jShellImportsEveryPackage() throws Exception {
        Path classes = Path.of(
                Loader.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleDescriptor module =
                ModuleFinder.of(classes).find("io.rpma").orElseThrow().descriptor();
        assertThat(Files.readAllLines(Path.of("src/bed/jshell-startup")))
                .containsAll(module.exports().stream()
                        .filter(exports -> !exports.isQualified())
                        .map(exports -> "import " + exports.source() + ".*;")
                        .collect(Collectors.toList()));
    }

    @Test
    void theTableNamesEveryFunctionOnce() throws Exception {
        assertThat(table()).hasSize(84).containsExactlyInAnyOrderElementsOf(exported());
    }

    @Test
    void theArchitectureNamesFilesThatExist() throws IOException {
        Set<String> files = new HashSet<>();
        for (String root : List.of("src/main/java", "native")) {
            try (Stream<Path> paths = Files.walk(Path.of(root))) {
                paths.map(path -> path.getFileName().toString()).forEach(files::add);
            }
        }
        List<String> named = Pattern.compile("`(\\w+\\.(?:java|c|h))`")
                .matcher(Files.readString(Path.of("docs/architecture.md")))
                .results()
                .map((MatchResult name) -> name.group(1))
                .collect(Collectors.toList());
        assertThat(named).contains("RpmaCq.java", "wait.c", "post.h");
        assertThat(files).containsAll(named);
    }

    /** {@code PackagingTest} runs the program. */
    @Test
    void theSegmentsAreTheOnesThatAreTested() throws IOException {
        String program = Files.readString(Path.of("src/it/consumer/segments/Segments.java"));
        assertThat(program)
                .contains(Document.PACKAGING.block("segment-in"))
                .contains(Document.PACKAGING.block("segment-out"));
    }

    @Test
    void theFormsOfPackagingNameTheirTests() throws IOException {
        String document = Files.readString(Path.of("docs/packaging.md"));
        List<String> tests = Stream.of(PackagingTest.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(ParameterizedTest.class))
                .map(method -> method.getName())
                .collect(Collectors.toList());
        assertThat(tests).hasSizeGreaterThanOrEqualTo(9).allMatch(document::contains);
    }
}
