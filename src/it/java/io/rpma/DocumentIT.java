// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.testing.Blocked;
import io.rpma.testing.Document;
import io.rpma.testing.Javac;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs and sessions of the documents: the example, the write by librdmacm and the JShell session. */
@Tag("consumers")
@Tag("processes")
class DocumentIT {
    private static final String CLASS = "Hello";
    private static final int MOST_LINES = 40;
    private static final String SHELL_COMMAND = "$ ";
    private static final String JSHELL_PROMPT = "jshell> ";

    private static final String GREETING = "Hello, remote memory!";

    /** Bits of a key that select its region. Flipping them makes the key wrong. */
    private static final int WRONG = 0x5a5a00;

    /** An address reserved for documentation (RFC 5737): no device has it. */
    private static final String NO_DEVICE = "192.0.2.1";

    @TempDir
    private Path directory;

    private String address;

    @BeforeEach
    void find() {
        address = TestDevice.address();
    }

    /** Compiles the example against the jar alone, and checks that it is one class. */
    private void compileExample() throws IOException {
        String example = Document.README.block("hello");
        assertThat(example.lines().count()).isLessThanOrEqualTo(MOST_LINES);
        Path source = Files.writeString(directory.resolve(CLASS + ".java"), example);
        Path classes = Files.createDirectory(directory.resolve("classes"));
        Javac.compile(classes, source);
        try (Stream<Path> made = Files.list(classes)) {
            assertThat(made).containsExactly(classes.resolve(CLASS + ".class"));
        }
    }

    private Jvm.Finished runExample(String argument) throws InterruptedException {
        return Jvm.onClassPath(Jvm.libraryJar(), directory.resolve("classes")).run(CLASS, argument);
    }

    @Test
    void theExampleDoesWhatIsShown() throws Exception {
        String shown = Document.README.block("hello-output");
        List<String> output =
                shown.lines().filter(line -> !line.startsWith(SHELL_COMMAND)).collect(Collectors.toList());
        assertThat(output).isNotEmpty();
        compileExample();
        Jvm.Finished finished = runExample(address);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines()).containsExactlyElementsOf(output);
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void theExampleWithAnAddressOfNoDevice() throws Exception {
        compileExample();
        Jvm.Finished finished = runExample(NO_DEVICE);
        assertThat(finished.status()).as(finished.toString()).isEqualTo(1);
        assertThat(finished.out()).isEmpty();
        assertThat(finished.err())
                .contains("rpma_utils_get_ibv_context failed")
                .contains("no RDMA device has this address: see 'rdma link'");
    }

    @Test
    void theInlineWriteArrives() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(GREETING.length())) {
            writeInline(memory, 0);
            assertThat(StandardCharsets.US_ASCII.decode(memory.buffer()).toString())
                    .isEqualTo(GREETING);
        }
    }

    @Test
    void theInlineWriteWithAWrongKey() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(GREETING.length())) {
            assertThatIOException()
                    .isThrownBy(() -> writeInline(memory, WRONG))
                    .withMessageContaining(RpmaWcStatus.REM_ACCESS_ERR.name());
            assertThat(memory.buffer().get(0)).isZero();
        }
    }

    /**
     * Writes the greeting into the memory over a connection, with a key in which the bits {@code wrong} are flipped.
     */
    private void writeInline(RpmaMemory memory, int wrong) throws Exception {
        int port = TestDevice.port();
        RpmaCompletions completions = RpmaCompletions.create(1);
        RdmaInlineData data = RdmaInlineData.create(GREETING.length());
        data.buffer().put(GREETING.getBytes(StandardCharsets.US_ASCII));
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaMr target = RdmaMr.regWrite(listener, memory)) {
            Blocked server = new Blocked(() -> serve(listener));
            try {
                InlineWriter.write(address, port, data, target.address(), target.rkey() ^ wrong, completions);
            } finally {
                server.result();
            }
        }
    }

    /** Accepts a connection, and waits for its end. */
    private static Object serve(RdmaId listener) throws InterruptedException {
        try (RdmaId server = RdmaPair.request(listener)) {
            server.createQp(RdmaPair.attr());
            server.accept(new RdmaConnParam());
            server.awaitEvent(RdmaEventType.ESTABLISHED, Limit.WAIT_S, TimeUnit.SECONDS);
            return server.awaitEvent(RdmaEventType.DISCONNECTED, Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    @Test
    void theJShellSessionShowsWhatIsShown() throws Exception {
        List<String> session = (Document.JSHELL.block("session") + Document.JSHELL.block("devices"))
                .lines()
                .collect(Collectors.toList());
        List<String> inputs = session.stream()
                .filter(line -> line.startsWith(JSHELL_PROMPT))
                .map(line -> line.substring(JSHELL_PROMPT.length()))
                .collect(Collectors.toList());
        List<String> outputs = session.stream()
                .filter(line -> !line.startsWith(JSHELL_PROMPT))
                .map(line -> line.replace("rxe0", RpmaDevice.list().get(0).name()))
                .map(line -> line.replace("10.0.0.1", address))
                .map(DocumentIT::withoutQueuePair)
                .collect(Collectors.toList());
        assertThat(outputs).as("one line for each input").hasSameSizeAs(inputs);
        RpmaDevice device = RpmaDevice.list().get(0);
        Map.of(
                        "device.ports()", device.ports(),
                        "device.addresses().get(0).getHostAddress()",
                                '"' + device.addresses().get(0).getHostAddress() + '"',
                        "device.limits().get(\"max_cqe\")", device.limits().get("max_cqe"),
                        "device.isFlushNative()", device.isFlushNative())
                .forEach((input, value) ->
                        outputs.replaceAll(output -> output.startsWith("$" + (inputs.indexOf(input) + 1) + " ")
                                ? output.replaceAll("(?<===> ).*", Matcher.quoteReplacement(value.toString()))
                                : output));
        List<String> printed = outputsOf(jshell(inputs));
        printed.replaceAll(DocumentIT::withoutQueuePair);
        for (int i = 0; i < Math.min(printed.size(), inputs.size()); i++) {
            printed.set(i, withoutEcho(printed.get(i), inputs.get(i), outputs.get(i)));
        }
        assertThat(printed).containsExactlyElementsOf(outputs);
    }

    /** Runs JShell as native/rxe does, with the inputs as its standard input, and returns its standard output. */
    private String jshell(List<String> inputs) throws IOException, InterruptedException {
        Path input = Files.write(directory.resolve("input"), inputs);
        File output = directory.resolve("output").toFile();
        File errors = directory.resolve("errors").toFile();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "jshell").toString(),
                "--class-path",
                Jvm.libraryJar().toString(),
                "--startup",
                "src/bed/jshell-startup",
                // By default, JShell waits 5 s for its second JVM, which is too short on a slow emulated machine.
                "--execution",
                "jdi:hostname(127.0.0.1),timeout(60000)",
                "-R--enable-native-access=ALL-UNNAMED",
                "-R-Xcheck:jni",
                "-J-Djava.util.prefs.userRoot=" + directory));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectOutput(output)
                .redirectError(errors);
        builder.environment().put("RPMA_ADDRESS", address);
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(Limit.WAIT_S, TimeUnit.SECONDS);
            String seen = Files.readString(output.toPath()) + Files.readString(errors.toPath());
            assertThat(ended).as("JShell has ended, after: " + seen).isTrue();
            assertThat(process.exitValue()).as(seen).isZero();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return Files.readString(output.toPath());
    }

    /** Returns the lines that JShell printed, without its welcome and prompts. */
    private static List<String> outputsOf(String printed) {
        return printed.replace("\b", "")
                .lines()
                .map(line -> line.replace(JSHELL_PROMPT.strip(), "").strip())
                .filter(line -> !line.isEmpty())
                .filter(line -> !line.startsWith("|  Welcome to JShell") && !line.contains("/help intro"))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private static String withoutQueuePair(String line) {
        return line.replaceAll("queue pair \\d+", "queue pair");
    }

    /** Removes the echo: without a terminal, JShell prints the part of an input that arrived before the prompt. */
    private static String withoutEcho(String line, String input, String output) {
        boolean echoed = line.endsWith(output) && input.startsWith(line.substring(0, line.length() - output.length()));
        return echoed ? output : line;
    }
}
