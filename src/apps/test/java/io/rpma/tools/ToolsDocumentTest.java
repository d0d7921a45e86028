// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.testing.Document;
import io.rpma.testing.Jvm;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * The page of the tools: its command lines and options are those of the tools. {@code ToolsDocumentIT} runs the
 * commands.
 */
class ToolsDocumentTest {
    /** A code block, or code in a text, which can continue on the next line. */
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```$|`([^`]+)`");

    /**
     * A line of a block of commands, or a line with a prompt. A message of the tools has a colon behind the command.
     */
    private static final Pattern BLOCK_COMMAND = Pattern.compile("(?m)^(?:\\$ )?(rpma-java (?!\\w+:)[^ ].*)$");

    private static final Pattern SECTION = Pattern.compile("(?m)^## (.*)$");

    private static CommandLine tools() {
        return new Tools().commandLine();
    }

    /** The code in the text of a part of the page, without the blocks. */
    private static List<String> spans(String text) {
        return CODE.matcher(text)
                .results()
                .map((MatchResult code) -> code.group(1))
                .filter(code -> code != null)
                .map(code -> code.replace('\n', ' '))
                .collect(Collectors.toList());
    }

    /** The whole command lines of the page. */
    static List<String> commands() throws IOException {
        String text = Document.TOOLS.text();
        return Stream.concat(
                        BLOCK_COMMAND.matcher(text).results().map(command -> command.group(1)),
                        spans(text).stream().filter(code -> code.startsWith("rpma-java ")))
                .collect(Collectors.toList());
    }

    /** The shell splits a command line into the arguments of the tools. */
    private static String[] arguments(String command) throws IOException, InterruptedException {
        String script = "rpma-java() { printf '%s\\n' \"$@\"; }; RPMA_ADDRESS=10.0.0.1; RPMA_PMEM=/dev/dax0.0\n";
        return Tool.run("bash", "-euc", script + command).split("\n");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void eachCommandLineIsRight(String command) throws IOException, InterruptedException {
        CommandLine.ParseResult result = tools().parseArgs(arguments(command));
        assertThat(result.hasSubcommand()).as(command).isTrue();
    }

    @Test
    void theCommandLinesAreFound() throws IOException {
        assertThat(commands())
                .hasSizeGreaterThanOrEqualTo(12)
                .contains("rpma-java rxe run ibv_devinfo", "rpma-java ping --listen 10.0.0.1");
    }

    @Test
    void aWrongCommandLineIsFound() {
        for (String command : List.of("rpma-java ping 10.0.0.1 --counts 4", "rpma-java pong 10.0.0.1")) {
            assertThatExceptionOfType(ParameterException.class).isThrownBy(() -> tools().parseArgs(arguments(command)));
        }
    }

    @Test
    void thereIsASectionForEachCommand() throws IOException {
        List<String> sections = SECTION.matcher(Document.TOOLS.text())
                .results()
                .map(heading -> heading.group(1))
                .collect(Collectors.toList());
        assertThat(sections).containsExactlyElementsOf(tools().getSubcommands().keySet());
        assertThat(Pattern.compile("(?m)^\\| \\[`(\\w+)`\\]\\(#\\1\\)")
                        .matcher(Document.TOOLS.text())
                        .results()
                        .map(row -> row.group(1)))
                .containsExactlyElementsOf(sections);
    }

    private static Set<String> options(CommandLine command) {
        Set<String> options =
                new TreeSet<>(command.getCommandSpec().optionsMap().keySet());
        command.getSubcommands().values().forEach(subcommand -> options.addAll(options(subcommand)));
        return options;
    }

    /**
     * Returns the options that a section names, alone or after the name of the command, and that the command does not
     * have.
     */
    private static List<String> unknown(String section, Set<String> options, String name) {
        List<String> unknown = new ArrayList<>();
        for (String code : spans(section)) {
            if (code.startsWith("-") || code.startsWith(name + " ")) {
                Stream.of(code.split(" "))
                        .filter(word -> word.startsWith("-") && !options.contains(word))
                        .forEach(unknown::add);
            }
        }
        return unknown;
    }

    @Test
    void eachOptionExists() throws IOException {
        for (String name : List.of("info", "doctor", "selftest", "ping", "perf")) {
            Set<String> options = options(tools().getSubcommands().get(name));
            assertThat(unknown(Document.TOOLS.section(name), options, name))
                    .as(name)
                    .isEmpty();
        }
        String text = Document.TOOLS.text();
        assertThat(unknown(text.substring(0, text.indexOf("\n## ")), options(tools()), "rpma-java"))
                .isEmpty();
    }

    @Test
    void anOptionThatDoesNotExistIsFound() {
        Set<String> options = options(tools().getSubcommands().get("ping"));
        assertThat(unknown("`--size` and `ping -c 1`, `java -x`", options, "ping"))
                .isEmpty();
        assertThat(unknown("`--sizes` and `ping --colour`", options, "ping")).containsExactly("--sizes", "--colour");
    }

    /** The script of the command rxe shows its help before it looks for a device. */
    @Test
    void theOptionsOfTheScriptExist() throws IOException, InterruptedException {
        String help = Tool.run("native/rxe", "run", "--help");
        List<String> lines = Document.TOOLS.block("rxe").lines().collect(Collectors.toList());
        assertThat(lines).isNotEmpty();
        for (String line : lines) {
            List<String> words = List.of(arguments(line));
            for (String word : words.subList(0, words.indexOf("run"))) {
                if (word.startsWith("-")) {
                    assertThat(help).containsPattern("(?m)^  " + word + " ");
                }
            }
        }
    }

    @Test
    void theAliasStartsTheTools(@TempDir Path home) throws IOException, InterruptedException {
        Path target = Files.createDirectories(home.resolve("rpma-java/target"));
        Path jar = Jvm.toolsJar();
        Files.copy(jar, target.resolve(jar.getFileName()));
        String script = "shopt -s expand_aliases; HOME='" + home + "'; PATH='" + System.getProperty("java.home")
                + "/bin':$PATH\n" + Document.TOOLS.block("alias") + "rpma-java --version";
        assertThat(Tool.run("bash", "-euc", script)).matches("(?s).*rpma-java \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?\n");
    }

    /** The programs of perftest are not there. The sizes of the other side of the comparison are those of the table. */
    @Test
    void theComparisonHasTheSizesOfItsTable() throws IOException, InterruptedException {
        List<String> lines = Document.TOOLS.block("perftest").lines().collect(Collectors.toList());
        assertThat(lines).hasSize(3);
        List<String> words = List.of(arguments(lines.get(2)));
        assertThat(words.get(words.indexOf("-s") + 1)).isEqualTo("2,64,1024,4096,65536");
        assertThat(Document.TOOLS.text())
                .contains("\n| 2 B |", "\n| 64 B |", "\n| 1 KiB |", "\n| 4 KiB |", "\n| 64 KiB |");
    }
}
