// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.MappingsProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.Rxe;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The end of a guest of user-mode Linux by a limit, a signal or a key: nothing of the guest is left. */
@Tag("bed")
class UmlBedEndIT {
    private static final int TIME_LIMIT = 124;
    private static final int INTERRUPTED = 130;
    private static final String FOREVER = "echo up; exec sleep 1000";
    private static final String AFTER_INPUT = "read line; " + FOREVER;

    /** The number of processes for the kernel and the streams; the processes in the guest need more. */
    private static final int MACHINE = 5;

    private static final char CONTROL_C = 3;
    private static final String REMOVE_LINE = "\033[K";

    @TempDir
    private Path directory;

    private Path cache;

    @BeforeEach
    void makeCache() throws IOException {
        cache = Rxe.privateCache(Files.createDirectory(directory.resolve("cache")));
    }

    /** JUnit would warn about links that lead out of its directory. */
    @AfterEach
    void removeCache() throws IOException, InterruptedException {
        Tool.run("rm", "-rf", cache.toString());
    }

    private Rxe uml(List<String> options, String... command) {
        return Rxe.uml(options, command).environment("RPMA_CACHE", cache.toString());
    }

    /** Waits until the command has read its input: by then all processes of the guest have started. */
    private static List<Long> begin(Jvm.Running rxe) throws IOException, InterruptedException {
        type(rxe, "go\n");
        rxe.awaitLine("up");
        return Rxe.startedBy(rxe.process());
    }

    /** Waits until all processes of the guest have ended by themselves, and checks that no run is left. */
    private void assertNothingIsLeft(List<Long> processes) throws IOException {
        assertThat(processes).hasSizeGreaterThan(MACHINE);
        Rxe.awaitEnd(processes);
        assertThat(Rxe.runs(cache)).isEmpty();
    }

    @Test
    void withinTheTimeLimit() throws IOException, InterruptedException {
        Rxe.Finished finished =
                uml(List.of("--time-limit", "100"), "echo", "out").run();
        assertThat(finished.toString()).isEqualTo("exit status 0\nout\n" + Rxe.BOOTING);
        assertThat(Rxe.runs(cache)).isEmpty();
    }

    @Test
    void byTheTimeLimit() throws IOException, InterruptedException {
        try (Jvm.Running rxe =
                uml(List.of("--time-limit", "60"), "sh", "-c", AFTER_INPUT).start()) {
            List<Long> processes = begin(rxe);
            Jvm.Finished finished = rxe.awaitEnd();
            assertThat(finished.status()).isEqualTo(TIME_LIMIT);
            assertThat(finished.err()).isEqualTo(Rxe.BOOTING + "rxe: ended by the time limit of 60 s\n");
            assertNothingIsLeft(processes);
        }
    }

    @ParameterizedTest
    @CsvSource({"HUP, 129", "INT, 130", "QUIT, 131", "TERM, 143"})
    void byASignal(String signal, int status) throws IOException, InterruptedException {
        try (Jvm.Running rxe = uml(List.of(), "sh", "-c", AFTER_INPUT).start()) {
            List<Long> processes = begin(rxe);
            Tool.run("kill", "-" + signal, Long.toString(rxe.process().pid()));
            Jvm.Finished finished = rxe.awaitEnd();
            assertThat(finished.status()).isEqualTo(status);
            assertThat(finished.err()).isEqualTo(Rxe.BOOTING + "rxe: ended by SIG" + signal + "\n");
            assertNothingIsLeft(processes);
        }
    }

    /** A defect of a kernel can stop a guest for good. */
    @Test
    void byAKernelThatDoesNothing() throws IOException, InterruptedException {
        Rxe silent = uml(List.of(), "sh", "-c", AFTER_INPUT);
        try (Jvm.Running rxe = silent.start()) {
            List<Long> processes = begin(rxe);
            Tool.run("kill", "-STOP", Long.toString(kernel(rxe.process())));
            Jvm.Finished finished = rxe.awaitEnd();
            assertThat(finished.status()).isEqualTo(1);
            assertThat(finished.err())
                    .containsPattern(
                            "rxe: the guest does nothing any more \\(state T .*, in \\w+, 0 % of a processor\\)");
            assertNothingIsLeft(processes);
        }
    }

    /**
     * A process of the guest needs more mappings than this host permits, which lets the kernel of user-mode Linux
     * repeat a page fault for ever, also after the process has given back some mappings. A host that permits more is no
     * limit.
     */
    @Test
    void byAProcessWithTooManyMappings() throws IOException, InterruptedException {
        int limit =
                Integer.parseInt(Tool.run("sysctl", "-n", "vm.max_map_count").strip());
        boolean suffices = limit > 100_000;
        int pages = suffices ? 75_000 : limit + 10_000;
        Rxe.Finished finished = uml(
                        List.of("--memory", "1024"),
                        "java",
                        "-cp",
                        Jvm.testClasses().toString(),
                        MappingsProgram.class.getName(),
                        "/dev/shm",
                        Integer.toString(pages))
                .run();
        if (suffices) {
            assertThat(finished.out()).endsWith("used " + pages + " pages\n");
            assertThat(finished.status()).isZero();
        } else {
            // on a busy machine, the mappings can be counted before the program needs too many
            assertThat(finished.out()).isIn("gave back 1000 pages\n", "");
            assertThat(finished.err())
                    .matches(Rxe.BOOTING + "rxe: a process in the guest has \\d+ mappings on this host, which permits "
                            + limit
                            + ", and would wait for ever beyond this number: permit more with"
                            + " 'sysctl -w vm.max_map_count=262144' as root, or use --bed qemu\n");
            assertThat(finished.status()).isEqualTo(1);
        }
        assertThat(Rxe.runs(cache)).isEmpty();
    }

    /** Processes end while their mappings are counted. */
    @Test
    void notByManyShortProcesses() throws IOException, InterruptedException {
        Rxe.Finished finished = uml(List.of(), "bash", "-c", "while ((SECONDS < 25)); do /bin/true; done; echo done")
                .run();
        assertThat(finished.toString()).isEqualTo("exit status 0\ndone\n" + Rxe.BOOTING);
    }

    private static long kernel(Process rxe) {
        return rxe.children()
                .filter(child -> child.info().command().orElse("").endsWith("/linux"))
                .mapToLong(ProcessHandle::pid)
                .findFirst()
                .orElseThrow();
    }

    /** The guest has a link and an endless standard input, so that every process that could be left exists. */
    @Test
    void byTheOneThatCanNotBeCaught() throws IOException, InterruptedException {
        Path link = Files.createDirectory(directory.resolve("link"));
        Path endless = directory.resolve("endless");
        Tool.run("mkfifo", endless.toString());
        try (Jvm.Running rxe = uml(List.of("--link", link + ":1"), "sh", "-c", AFTER_INPUT)
                .under(List.of("bash", "-c", "exec \"$@\" <>\"$0\"", endless.toString()))
                .start()) {
            Files.writeString(endless, "go\n", StandardOpenOption.WRITE);
            rxe.awaitLine("up");
            List<Long> processes = Rxe.startedBy(rxe.process());
            assertThat(processes).hasSizeGreaterThan(MACHINE);
            rxe.kill();
            Rxe.awaitEnd(processes);
        }
        assertThat(Rxe.runs(cache)).hasSize(1);
        assertThat(uml(List.of(), "true").run().status()).isZero();
        assertThat(Rxe.runs(cache)).isEmpty();
    }

    /** The next run must not remove the directory of a run that goes on. */
    @Test
    void notByAnotherRun() throws IOException, InterruptedException {
        try (Jvm.Running rxe = uml(List.of(), "sh", "-c", "echo up; cat").start()) {
            rxe.awaitLine("up");
            List<Path> runs = Rxe.runs(cache);
            assertThat(uml(List.of(), "true").run().status()).isZero();
            assertThat(Rxe.runs(cache)).isEqualTo(runs).hasSize(1);
            rxe.process().outputWriter().append("still there\n").close();
            assertThat(rxe.awaitEnd().out()).isEqualTo("up\nstill there\n");
        }
    }

    /** Runs a line of a shell on a terminal of 31 lines and 97 columns, after the terminal's name is printed. */
    private static Jvm.Running onTerminal(String line) throws IOException {
        return Rxe.command(
                        "env",
                        "SHELL=/bin/bash",
                        "script",
                        "-qec",
                        "stty rows 31 columns 97; tty; " + line,
                        "/dev/null")
                .start();
    }

    private static void type(Jvm.Running terminal, String keys) throws IOException {
        terminal.process().outputWriter().append(keys).flush();
    }

    private static boolean isRaw(String terminal) {
        try {
            return Tool.run("stty", "-a", "-F", terminal).contains("-icanon");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCommandOnATerminal() throws IOException, InterruptedException {
        String command = Rxe.umlLine(
                "sh", "-c", "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size; read line; echo \"<$line>\"; exit 3");
        try (Jvm.Running terminal = onTerminal(command + "; echo status $?; stty -a; exit 4")) {
            // The command's output replaces the progress of the boot.
            assertThat(terminal.awaitLine("rxe: booting the trixie guest ...")).endsWith(" s");
            assertThat(terminal.awaitLine("31 97")).isEqualTo(REMOVE_LINE + "31 97");
            type(terminal, "a line\n");
            terminal.awaitLine("<a line>");
            terminal.awaitLine("status 3");
            Jvm.Finished finished = terminal.awaitEnd();
            assertThat(finished.status()).isEqualTo(4);
            assertThat(finished.out()).contains(" icanon", " echo ");
        }
    }

    /** On a terminal, the command in the guest handles the key. */
    @Test
    void controlCOnATerminal() throws IOException, InterruptedException {
        String command =
                Rxe.umlLine("sh", "-c", "trap 'echo caught' INT; echo up; sleep 1000; echo $?; exec sleep 1000");
        try (Jvm.Running terminal = onTerminal(command)) {
            String name = terminal.awaitLine("/dev/pts/");
            terminal.awaitLine("up");
            Eventually.become("a terminal that passes the keys on", () -> isRaw(name));
            type(terminal, "" + CONTROL_C);
            terminal.awaitLine("caught");
            terminal.awaitLine(Integer.toString(INTERRUPTED));
            type(terminal, "" + CONTROL_C);
            Jvm.Finished finished = terminal.awaitEnd();
            assertThat(finished.status()).isEqualTo(INTERRUPTED);
            assertThat(finished.out()).doesNotContain("rxe: ended by");
        }
    }

    @Test
    void controlCWhereTheOutputIsNoTerminal() throws IOException, InterruptedException {
        try (Jvm.Running terminal = onTerminal(Rxe.umlLine("sh", "-c", FOREVER) + " | cat; exit ${PIPESTATUS[0]}")) {
            terminal.awaitLine("up");
            type(terminal, "" + CONTROL_C);
            Jvm.Finished finished = terminal.awaitEnd();
            assertThat(finished.status()).isEqualTo(INTERRUPTED);
            assertThat(finished.out()).contains("rxe: ended by SIGINT");
        }
    }

    @Test
    void theTimeLimitOnATerminal() throws IOException, InterruptedException {
        String command = Rxe.umlLine("sh", "-c", FOREVER).replace("'--memory'", "'--time-limit' '60' '--memory'");
        try (Jvm.Running terminal = onTerminal(command + "; echo status $?; stty -a")) {
            terminal.awaitLine("up");
            terminal.awaitLine("status " + TIME_LIMIT);
            assertThat(terminal.awaitEnd().out()).contains("rxe: ended by the time limit of 60 s", " icanon", " echo ");
        }
    }
}
