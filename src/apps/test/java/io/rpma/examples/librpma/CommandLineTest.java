// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The command lines of the examples, and the messages for wrong command lines. */
class CommandLineTest {
    private static final String ADDRESS = "192.0.2.1";
    private static final String PORT = "7204";

    private static void assertMisused(Class<?> example, String message, String... arguments)
            throws InterruptedException {
        String[] command = Stream.concat(Stream.of(example.getName()), Stream.of(arguments))
                .toArray(String[]::new);
        Jvm.Finished end = Jvm.likeThis().run(command);
        assertThat(end.status()).as(end.toString()).isEqualTo(255);
        assertThat(end.out()).isEmpty();
        assertThat(end.err()).isEqualTo(message + "\n");
    }

    @Test
    void tooFewArguments() throws InterruptedException {
        assertMisused(Example01ConnectionServer.class, "usage: 01-connection server <server_address> <port>", ADDRESS);
        assertMisused(
                Example06scchMultipleConnectionsClient.class,
                "usage: 06scch-multiple-connections client <server_address> <port> <seed>",
                ADDRESS,
                PORT);
        assertMisused(
                Example12ReceiveCompletionQueueClient.class,
                "usage: 12-receive-completion-queue client <server_address> <port> <start_value> <rounds> [<sleep>]",
                ADDRESS,
                PORT,
                "7");
    }

    @Test
    void wrongArguments() throws InterruptedException {
        assertMisused(
                Example08srqSimpleMessagesPingPongWithSrqServer.class,
                "The third parameter should be one of m or r (s given)",
                ADDRESS,
                PORT,
                "s");
        assertMisused(
                Example11WriteWithImmClient.class,
                "The provided immediate data is too big (4294967296 > 4294967295)",
                ADDRESS,
                PORT,
                "4294967296");
        assertMisused(
                Example13MessagesPingPongWithSrqServer.class,
                "<timeout> should be a positive number of seconds (0 given)",
                ADDRESS,
                PORT,
                "0");
    }

    @Test
    void theLogExampleNeedsNoDevice() throws InterruptedException {
        Jvm.Finished end = Jvm.likeThis().run(ExampleLog.class);
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out())
                .startsWith("Let's write messages to the logger io.rpma\n")
                .contains("\nLet's use custom log function to write messages to stderr\n");
        assertThat(end.err()).containsSubsequence("FINE: ", "Custom log handling:\n", "level: DEBUG ");
    }

    @Test
    void theScriptKnowsEveryExample() throws Exception {
        String help = Tool.run("src/apps/examples/run", "--help");
        List<String> names = help.substring(help.indexOf("Names:\n"))
                .lines()
                .skip(1)
                .map(String::strip)
                .collect(Collectors.toList());
        assertThat(names).hasSize(18);
        assertThat(names.stream().flatMap(CommandLineTest::classes)).containsExactlyInAnyOrderElementsOf(programs());
        assertThat(Files.readAllLines(Path.of("src/apps/examples/README.md")))
                .filteredOn(line -> line.matches("\\| (\\d\\d.*-|log ).*"))
                .extracting(line -> line.split("[| ]+")[1])
                .containsExactlyElementsOf(names);
    }

    private static Stream<String> classes(String name) {
        String base = Arrays.stream(name.split("-"))
                .map(part -> Character.toUpperCase(part.charAt(0)) + part.substring(1))
                .collect(Collectors.joining("", "Example", ""));
        return name.equals("log") ? Stream.of(base) : Stream.of(base + "Client", base + "Server");
    }

    private static List<String> programs() throws Exception {
        Path sources = Path.of(
                "src/apps/examples/java", CommandLineTest.class.getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(sources)) {
            return files.map(file -> file.getFileName().toString().replace(".java", ""))
                    .filter(name -> name.startsWith("Example"))
                    .collect(Collectors.toList());
        }
    }
}
