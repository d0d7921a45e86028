// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.guide.StopProgram;
import io.rpma.testing.Document;
import io.rpma.testing.Jvm;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The guide: its Java code is a part of sources that {@code SamplesIT}, {@code ReplicatedMapIT}, {@code EventLoopIT},
 * {@code DocumentIT}, {@code ConsumerIT} and {@code ObservabilityTest} run, and its links lead to files and headings
 * that exist.
 */
class GuideTest {
    private static final Path GUIDE = Path.of("docs/guide");

    /** The directories of the sources of the samples. */
    private static final List<Path> SAMPLES = List.of(
            Path.of("src/it/java/io/rpma/guide"),
            Path.of("src/it/consumer/map"),
            Path.of("src/it/consumer/greeting/src/main/java/greeting"),
            Path.of("src/it/consumer/greeting/src/test/java/greeting"),
            Path.of("src/it/java/io/rpma"),
            Path.of("src/test/java/io/rpma"));

    /** A block of Java: the name of its source, the name of the part, and the code. */
    private static final Pattern JAVA = Pattern.compile("(?ms)^```java(?: +(\\w+)\\.([\\w-]+))?$\\R(.*?)^```$");

    private static final Pattern LINK = Pattern.compile("\\[[^\\]]+\\]\\(([^)#]*)(?:#([^)]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```$");

    static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(GUIDE)) {
            return files.sorted().collect(Collectors.toList());
        }
    }

    private static Path source(String name) {
        return SAMPLES.stream()
                .map(directory -> directory.resolve(name + ".java"))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no source " + name));
    }

    /** Whether lines of the source are the code, at any indentation. */
    private static boolean contains(String source, String code) {
        return Stream.of(4, 8, 12, 16).anyMatch(indentation -> source.contains("\n" + code.indent(indentation)));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void theCodeIsTheCodeThatIsTested(Path page) throws IOException {
        Map<String, String> seen = new TreeMap<>();
        for (MatchResult block : JAVA.matcher(Files.readString(page)).results().collect(Collectors.toList())) {
            assertThat(block.group(1)).as("the source of " + block.group()).isNotNull();
            String name = block.group(1) + "." + block.group(2);
            assertThat(seen.put(name, block.group(3))).as(name).isNull();
            Path source = source(block.group(1));
            assertThat(contains(Files.readString(source), block.group(3)))
                    .as(name + " is in " + source + ":\n" + block.group(3))
                    .isTrue();
        }
    }

    static List<Path> pagesAndReadme() throws IOException {
        List<Path> pages = new ArrayList<>(pages());
        pages.add(Path.of("README.md"));
        return pages;
    }

    /**
     * The list of blocks is in {@code DocumentTest.everyBlockIsReadByATest}, and has the blocks of each
     * {@link Document} by their names. So no page may have a block that is not found there.
     */
    @ParameterizedTest
    @MethodSource("pagesAndReadme")
    void eachBlockIsInTheListOfBlocksThatTestsRun(Path page) throws IOException {
        String text = Files.readString(page);
        List<String> documents = new ArrayList<>();
        for (Document document : Document.values()) {
            documents.add(document.text());
        }
        assertThat(faults(text, documents.contains(text))).isEmpty();
    }

    /** Returns the lines that begin a block which no test can read. */
    private static List<String> faults(String text, boolean isDocument) {
        List<String> faults = new ArrayList<>();
        boolean inside = false;
        for (String line : text.lines().collect(Collectors.toList())) {
            if (line.startsWith("```") && inside) {
                inside = false;
            } else if (line.startsWith("```")) {
                inside = true;
                boolean named = line.matches("```\\w+ [\\w.-]+");
                if (!named || !isDocument && !line.startsWith("```java ")) {
                    faults.add(line);
                }
            } else if (!inside && line.matches(" {4,}\\S.*|\\t.*|\\s*(~~~|```|<pre).*|[>*-]\\s+(~~~|```).*")) {
                faults.add(line);
            }
        }
        return faults;
    }

    @Test
    void aBlockThatNoTestRunsIsFound() {
        assertThat(faults("```sh name\ntrue\n```\n", true)).isEmpty();
        assertThat(faults("```java A.part\na();\n```\n", false)).isEmpty();
        assertThat(faults("```sh name\ntrue\n```\n", false)).containsExactly("```sh name");
        assertThat(faults("```sh\ntrue\n```\n", true)).containsExactly("```sh");
        assertThat(faults("```\ntrue\n```\n", true)).containsExactly("```");
        assertThat(faults("* item\n\n  ```sh name\n  true\n  ```\n", true)).hasSize(2);
        assertThat(faults("* ```sh name\n", true)).hasSize(1);
        assertThat(faults("~~~sh name\ntrue\n~~~\n", true)).hasSize(2);
        assertThat(faults("text:\n\n    true\n", true)).containsExactly("    true");
    }

    @Test
    void theLimitIsShown() throws Exception {
        assertThat(Tool.run("sh", "-e", "-c", Document.GUIDE_CONTAINERS.block("limit")))
                .contains("Max locked memory");
    }

    @Test
    void theServerClosesItsObjectsAfterASignal() throws InterruptedException {
        try (Jvm.Running server =
                Jvm.likeThis().under("env", "--default-signal").start(StopProgram.class)) {
            server.awaitLine("serving");
            server.terminate();
            Jvm.Finished end = server.awaitEnd();
            assertThat(end.status()).as(end.toString()).isEqualTo(128 + 15);
            assertThat(end.out()).isEqualTo("serving\nclosed\n");
        }
    }

    /** A sample that no page shows is a test without a purpose. */
    @Test
    void everySampleIsShown() throws IOException {
        Set<String> shown = new HashSet<>();
        for (Path page : pages()) {
            JAVA.matcher(Files.readString(page)).results().forEach(block -> shown.add(block.group(1)));
        }
        try (Stream<Path> files = Files.list(SAMPLES.get(0))) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> name.endsWith("Samples.java"))
                            .map(name -> name.replace(".java", "")))
                    .isNotEmpty()
                    .allMatch(shown::contains);
        }
    }

    static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        for (Path root : List.of(Path.of("docs"), Path.of("src"))) {
            try (Stream<Path> files = Files.walk(root)) {
                files.filter(file -> file.toString().endsWith(".md")).forEach(documents::add);
            }
        }
        documents.addAll(List.of(Path.of("README.md"), Path.of("CONTRIBUTING.md"), Path.of("CHANGELOG.md")));
        return documents;
    }

    @ParameterizedTest
    @MethodSource("documents")
    void theLinksLeadSomewhere(Path page) throws IOException {
        List<String> broken = new ArrayList<>();
        for (MatchResult link : LINK.matcher(withoutCode(page)).results().collect(Collectors.toList())) {
            if (link.group(1).startsWith("http")) {
                continue;
            }
            Path target = link.group(1).isEmpty()
                    ? page
                    : page.resolveSibling(link.group(1)).normalize();
            if (!Files.exists(target)
                    || link.group(2) != null && !anchors(target).contains(link.group(2))) {
                broken.add(link.group());
            }
        }
        assertThat(broken).isEmpty();
    }

    private static String withoutCode(Path page) throws IOException {
        return CODE.matcher(Files.readString(page)).replaceAll("");
    }

    /** A heading that repeats another has a number after its anchor. */
    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new HashSet<>();
        for (MatchResult heading : HEADING.matcher(withoutCode(page)).results().collect(Collectors.toList())) {
            String anchor = heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\w\\- ]", "")
                    .replace(' ', '-');
            for (int number = 0; !anchors.add(number == 0 ? anchor : anchor + "-" + number); number++) {}
        }
        return anchors;
    }

    @Test
    void theIndexHasEachPage() throws IOException {
        Set<String> linked = LINK.matcher(Files.readString(GUIDE.resolve("README.md")))
                .results()
                .map(link -> link.group(1))
                .collect(Collectors.toSet());
        assertThat(pages().stream()
                        .map(page -> page.getFileName().toString())
                        .filter(name -> !name.equals("README.md")))
                .allMatch(linked::contains);
    }

    @Test
    void otherCodeIsNotFound() {
        String source = "class A {\n    void a() {\n        b();\n        c();\n    }\n}\n";
        assertThat(contains(source, "b();\nc();\n")).isTrue();
        assertThat(contains(source, "c();\nb();\n")).isFalse();
        assertThat(contains(source, "  b();\n")).isFalse();
    }
}
