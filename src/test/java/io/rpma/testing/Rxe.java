// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A command line of {@code native/rxe}, mostly for a guest of user-mode Linux. */
public final class Rxe {
    /** The absolute path of the script, for commands in any directory. */
    public static final Path PROGRAM = Path.of("native", "rxe").toAbsolutePath();

    /** The directory of the script's parts. */
    public static final Path PARTS = Path.of("src", "bed").toAbsolutePath();

    /** The only line that the script prints if a guest boots and runs its command. */
    public static final String BOOTING = "rxe: booting the trixie guest\n";

    private final ProcessBuilder builder;
    private byte[] input = {};

    private Rxe(List<String> words) {
        builder = new ProcessBuilder(new ArrayList<>(words));
    }

    /** Copies the script and its parts into a directory, and returns the path of the new script. */
    public static Path install(Path directory) throws IOException, InterruptedException {
        Path natives = Files.createDirectory(directory.resolve("native"));
        Tool.run("cp", "-a", PROGRAM.toString(), natives.toString());
        Path sources = Files.createDirectories(directory.resolve("src"));
        Tool.run("cp", "-a", PARTS.toString(), sources.toString());
        return natives.resolve(PROGRAM.getFileName());
    }

    /** A command line that the script is a part of. */
    public static Rxe command(String... words) {
        return new Rxe(List.of(words));
    }

    /** A command in a small guest of user-mode Linux. */
    public static Rxe uml(String... command) {
        return new Rxe(umlWords(List.of(), command));
    }

    /** A command in a small guest of user-mode Linux, with further options. */
    public static Rxe uml(List<String> options, String... command) {
        return new Rxe(umlWords(options, command));
    }

    /** The same command as a line for a shell. */
    public static String umlLine(String... command) {
        return umlWords(List.of(), command).stream().map(Rxe::quoted).collect(Collectors.joining(" "));
    }

    private static List<String> umlWords(List<String> options, String... command) {
        // Without this option, signals that the parent of the tests ignores would be ignored here too.
        List<String> words = new ArrayList<>(List.of("env", "--default-signal", PROGRAM.toString()));
        words.addAll(List.of("run", "--bed", "uml", "--memory", "512"));
        words.addAll(options);
        words.add("--");
        words.addAll(List.of(command));
        return words;
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    /** Starts the command in a directory. */
    public Rxe in(Path directory) {
        builder.directory(directory.toFile());
        return this;
    }

    /** Sets another command to start, which gets the command line as its last arguments. */
    public Rxe under(List<String> words) {
        builder.command().addAll(0, words);
        return this;
    }

    /** Sets a variable of the environment. */
    public Rxe environment(String name, String value) {
        builder.environment().put(name, value);
        return this;
    }

    /** Sets the standard input; empty if not set. */
    public Rxe input(byte[] bytes) {
        input = bytes.clone();
        return this;
    }

    /** Starts the command, with a standard input that stays open. */
    public Jvm.Running start() throws IOException {
        return new Jvm.Running(builder.start());
    }

    /** Runs the command to its end. */
    public Finished run() throws IOException, InterruptedException {
        Path in = Files.createTempFile("rxe", ".in");
        Path out = Files.createTempFile("rxe", ".out");
        Path err = Files.createTempFile("rxe", ".err");
        try {
            Files.write(in, input);
            Process process = builder.redirectInput(in.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(Limit.WAIT_S, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new AssertionError(builder.command() + " did not end within " + Limit.WAIT + ":\n"
                        + Files.readString(err, StandardCharsets.ISO_8859_1));
            }
            return new Finished(process.exitValue(), Files.readAllBytes(out), Files.readAllBytes(err));
        } finally {
            for (Path stream : List.of(in, out, err)) {
                Files.delete(stream);
            }
        }
    }

    /** The directory of the guests. */
    public static Path cache() {
        String cache = System.getenv("RPMA_CACHE");
        if (cache != null) {
            return Path.of(cache);
        }
        String caches = System.getenv("XDG_CACHE_HOME");
        return (caches != null ? Path.of(caches) : Path.of(System.getenv("HOME"), ".cache")).resolve("rpma-java");
    }

    /** The files in the cache that match the pattern. */
    public static List<Path> cached(String glob) throws IOException {
        return list(cache(), glob);
    }

    /** Makes the directory a cache with the same guests, which no other run uses. */
    public static Path privateCache(Path directory) throws IOException {
        for (Path cached : cached("{image,uml}-*")) {
            Files.createSymbolicLink(directory.resolve(cached.getFileName()), cached.toAbsolutePath());
        }
        return directory;
    }

    /** The directories of runs in a cache. */
    public static List<Path> runs(Path cache) throws IOException {
        return list(cache, "run.*");
    }

    private static List<Path> list(Path directory, String glob) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, glob)) {
            stream.forEach(found::add);
        }
        return found;
    }

    /** The ids of all descendants of a process. */
    public static List<Long> startedBy(Process process) {
        return process.descendants().map(ProcessHandle::pid).collect(Collectors.toList());
    }

    /** Waits until none of these processes is left. */
    public static void awaitEnd(List<Long> processes) {
        for (long process : processes) {
            Eventually.become("the end of process " + process, () -> hasEnded(process));
        }
    }

    /** True also for a zombie, which this machine's first process has to reap. */
    private static boolean hasEnded(long process) {
        try {
            String stat =
                    Files.readString(Path.of("/proc", Long.toString(process), "stat"), StandardCharsets.ISO_8859_1);
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state == 'Z' || state == 'X';
        } catch (IOException e) {
            return true;
        }
    }

    /** The exit status and the output of a command that has ended. */
    public static final class Finished {
        private final int status;
        private final byte[] out;
        private final byte[] err;

        private Finished(int status, byte[] out, byte[] err) {
            this.status = status;
            this.out = out;
            this.err = err;
        }

        /** The exit status. */
        public int status() {
            return status;
        }

        /** The standard output, byte by byte. */
        public byte[] bytes() {
            return out.clone();
        }

        /** The standard output. */
        public String out() {
            return new String(out, StandardCharsets.UTF_8);
        }

        /** The standard error output, without the line that the script prints before the command starts. */
        public byte[] errBytes() {
            byte[] before = BOOTING.getBytes(StandardCharsets.UTF_8);
            if (err.length < before.length || !Arrays.equals(before, Arrays.copyOf(err, before.length))) {
                throw new AssertionError("no guest was booted: " + this);
            }
            return Arrays.copyOfRange(err, before.length, err.length);
        }

        /** The standard error output. */
        public String err() {
            return new String(err, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return "exit status " + status + "\n" + out() + err();
        }
    }
}
