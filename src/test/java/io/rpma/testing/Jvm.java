// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts second JVMs with the VM options of this one (among them {@code -Xcheck:jni}) and their own class path or
 * module path, and collects their output.
 */
public final class Jvm {
    /** Options that a second JVM gets only if a test adds them. */
    private static final List<String> NOT_INHERITED = List.of(
            "--enable-native-access", "-Dio.rpma.", "-javaagent", "-agentlib", "-Xms", "-Xmx", "-XX:+AlwaysPreTouch");

    private static final String CHECK_JNI = "-Xcheck:jni";

    /**
     * No file with performance data: a JVM that starts locks the files of others for a moment, to find stale ones, and
     * a JVM whose own file is locked when it starts prints a warning between the lines of its program.
     */
    private static final String NO_PERFORMANCE_DATA = "-XX:-UsePerfData";

    /** A short program ends before the second compiler saves time, which takes a quarter of the processor time. */
    private static final String ONE_COMPILER = "-XX:TieredStopAtLevel=1";

    /** A part of the last lines that a JVM prints after SIGQUIT, behind the stacks, the deadlocks and the heap. */
    private static final String LAST_OF_DUMP = "Metaspace       used";

    /** How long a JVM may take for these lines. */
    private static final Duration DUMP_LIMIT = Duration.ofSeconds(60);

    private static final long DUMP_PAUSE_MS = 10;

    /** How many JVMs each test class has started. */
    private static final Map<String, Integer> STARTED = new ConcurrentHashMap<>();

    private final List<String> command = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final List<String> program = new ArrayList<>();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private Duration limit = Limit.WAIT;
    private String java = java(Path.of(System.getProperty("java.home")));

    private Jvm() {
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (NOT_INHERITED.stream().noneMatch(option::startsWith)) {
                options.add(option);
            }
        }
        if (!options.contains(CHECK_JNI)) {
            options.add(CHECK_JNI);
        }
        options.add(NO_PERFORMANCE_DATA);
        options.add(ONE_COMPILER);
    }

    /** A JVM of another JDK or of a run-time image, with no option about its classes and native code. */
    public static Jvm of(Path home) {
        Jvm jvm = new Jvm();
        jvm.java = java(home);
        return jvm;
    }

    /** A JVM with the class path of this one. */
    public static Jvm likeThis() {
        return onClassPath(Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .toArray(Path[]::new));
    }

    /** A JVM with this class path, whose classes may use native code. */
    public static Jvm onClassPath(Path... entries) {
        return onClassPathWithoutNativeAccess(entries).options("--enable-native-access=ALL-UNNAMED");
    }

    /** A JVM with this class path and no option about native code. */
    public static Jvm onClassPathWithoutNativeAccess(Path... entries) {
        return new Jvm().options("-cp", join(entries));
    }

    /** A JVM with this module path and this module, and no option about native code. */
    public static Jvm onModulePathWithoutNativeAccess(String module, Path... entries) {
        return new Jvm().options("-p", join(entries), "--add-modules", module);
    }

    /** The jar of the library, as users get it. */
    public static Path libraryJar() {
        return jar("rpma.test.jar");
    }

    /** The jar of the tools, as users get it. */
    public static Path toolsJar() {
        return jar("rpma.test.tools");
    }

    private static Path jar(String property) {
        String jar = System.getProperty(property);
        if (jar == null) {
            throw new IllegalStateException(
                    "the property " + property + " does not name the jar: see the pom.xml of these tests");
        }
        return Path.of(jar);
    }

    /**
     * A command of the tools, which {@link #start(String...)} gets as the first argument. Signals have their default
     * effect.
     */
    public static Jvm ofTools() {
        return ofTools(toolsJar());
    }

    /** A command of the tools in another place. */
    public static Jvm ofTools(Path jar) {
        Jvm jvm = new Jvm().under("env", "--default-signal");
        jvm.program.addAll(List.of("-jar", jar.toString()));
        return jvm;
    }

    /** The directory of the test classes. */
    public static Path testClasses() {
        return placeOf(Jvm.class);
    }

    /** The jar or the directory of a class. */
    public static Path placeOf(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String java(Path home) {
        return home.resolve("bin/java").toString();
    }

    /** A class path or module path. */
    public static String join(Path... entries) {
        return Arrays.stream(entries).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Adds VM options. */
    public Jvm options(String... added) {
        options.addAll(List.of(added));
        return this;
    }

    /** Sets a variable of the environment. */
    public Jvm environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** Runs the JVM without the sanitizer that this one may run with. */
    public Jvm withoutSanitizer() {
        return environment("LD_PRELOAD", "");
    }

    /** Loads libraries into the JVM before all others, but after the sanitizer that this one may run with. */
    public Jvm preload(String... libraries) {
        String sanitizer = System.getenv().getOrDefault("LD_PRELOAD", "");
        Stream<String> names = Stream.of(libraries).map(Jvm::nameWithoutBlanks);
        return environment(
                "LD_PRELOAD",
                Stream.concat(sanitizer.isEmpty() ? Stream.empty() : Stream.of(sanitizer), names)
                        .collect(Collectors.joining(":")));
    }

    /** The linker takes a blank for the end of a name. */
    private static String nameWithoutBlanks(String library) {
        if (!library.contains(" ")) {
            return library;
        }
        try {
            Path directory = Files.createTempDirectory("preload");
            Path link = Files.createSymbolicLink(directory.resolve("library.so"), Path.of(library));
            directory.toFile().deleteOnExit();
            link.toFile().deleteOnExit();
            return link.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets another command to start, which gets the command line of the JVM as its last arguments. */
    public Jvm under(String... words) {
        command.addAll(List.of(words));
        return this;
    }

    /** Sets how long the JVM may take, for a test of this limit and for long runs. */
    public Jvm limit(Duration longest) {
        limit = longest;
        return this;
    }

    /** Runs a program to its end. */
    public Finished run(Class<?> program, String... arguments) throws InterruptedException {
        try (Running running = start(program, arguments)) {
            return running.awaitEnd();
        }
    }

    /** Runs a program (a class, a module's class with {@code -m} before it, or a source file) to its end. */
    public Finished run(String... programAndArguments) throws InterruptedException {
        try (Running running = start(programAndArguments)) {
            return running.awaitEnd();
        }
    }

    /** Starts a program that is no JVM. */
    public static Running command(String... command) throws IOException {
        return new Running(new ProcessBuilder(command).start());
    }

    /** Starts a program. */
    public Running start(Class<?> program, String... arguments) {
        return start(Stream.concat(Stream.of(program.getName()), Stream.of(arguments))
                .toArray(String[]::new));
    }

    /** Starts a program (a class, a module's class with {@code -m} before it, or a source file). */
    public Running start(String... programAndArguments) {
        List<String> words = new ArrayList<>(command);
        words.add(java);
        words.addAll(options);
        words.addAll(program);
        words.addAll(List.of(programAndArguments));
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().putAll(environment);
        STARTED.merge(testClass(), 1, Integer::sum);
        try {
            return new Running(builder.start(), limit, true);
        } catch (IOException e) {
            throw new UncheckedIOException(String.join(" ", words), e);
        }
    }

    /** How many JVMs a test class has started. */
    static int startedBy(String testClass) {
        return STARTED.getOrDefault(testClass, 0);
    }

    /** The class of the test that runs in this thread. */
    private static String testClass() {
        return StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                        .filter(name -> name.endsWith("Test") || name.endsWith("IT"))
                        .findFirst())
                .orElse("");
    }

    /** A JVM that may still run. {@link #close} ends the JVM. */
    public static final class Running implements AutoCloseable {
        private final Process process;
        private final long deadline;
        private final Duration limit;
        private final boolean hasThreads;
        private final Output out;
        private final Output err;

        /** A program that is no JVM. */
        Running(Process process) {
            this(process, Limit.WAIT, false);
        }

        Running(Process process, Duration limit, boolean hasThreads) {
            this.process = process;
            this.limit = limit;
            this.hasThreads = hasThreads;
            deadline = System.nanoTime() + limit.toNanos();
            out = new Output(process.getInputStream());
            err = new Output(process.getErrorStream());
        }

        /** The process, for its input, its signals and its identity. */
        public Process process() {
            return process;
        }

        /** Waits until a line of the standard output contains the text, and returns the first one that does. */
        public String awaitLine(String text) throws InterruptedException {
            return awaitLine(text, 1);
        }

        /** Waits until this many lines of the standard output contain the text, and returns the last of these lines. */
        public String awaitLine(String text, int count) throws InterruptedException {
            String line = out.awaitLine(text, count, deadline);
            if (line == null) {
                String when = out.hasEnded() ? "before " + whatEndedTheOutput() : "within " + limit;
                String what = count == 1 ? "no line" : "not " + count + " lines";
                throw new AssertionError(what + " with '" + text + "' " + when + ":\n" + this);
            }
            return line;
        }

        /**
         * Waits until this many lines of the standard output contain the text, and returns the last of these lines;
         * null if there are fewer lines at the end of the output or after this time.
         */
        public String awaitLine(String text, int count, Duration longest) throws InterruptedException {
            return out.awaitLine(text, count, System.nanoTime() + longest.toNanos());
        }

        /** The lines of the standard output so far. */
        public List<String> lines() {
            return out.soFar();
        }

        private String whatEndedTheOutput() throws InterruptedException {
            if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return "the end of the standard output";
            }
            // The last messages of the JVM are often in the standard error output.
            err.awaitEnd(deadline);
            return "the end of the JVM with status " + process.exitValue();
        }

        /**
         * Kills the process. {@link Process#destroyForcibly} would close the streams, which may hold its last output.
         */
        public void kill() {
            process.toHandle().destroyForcibly();
        }

        /** Asks the process to end, by SIGTERM. {@link Process#destroy} would close the streams too. */
        public void terminate() {
            process.toHandle().destroy();
        }

        /** The output so far, for the message of a failed assertion. */
        @Override
        public String toString() {
            return out.toString() + err;
        }

        /** Waits for the end. If the limit or an interruption ends the wait, the exception has the output. */
        public Finished awaitEnd() throws InterruptedException {
            boolean hasEnded;
            try {
                hasEnded = process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                InterruptedException withOutput =
                        new InterruptedException("a JVM did not end before the interruption:\n" + outputWithThreads());
                withOutput.initCause(e);
                throw withOutput;
            }
            if (!hasEnded) {
                throw new AssertionError("a JVM did not end within " + limit + ":\n" + outputWithThreads());
            }
            return new Finished(process.exitValue(), out.awaitAll(), err.awaitAll());
        }

        /** Ends the process, and returns its output, to which a JVM adds the stacks of its threads. */
        private String outputWithThreads() throws InterruptedException {
            // SIGQUIT would make another program dump core
            if (hasThreads) {
                printThreads();
            }
            close();
            return toString();
        }

        private void printThreads() throws InterruptedException {
            // fails if the JVM has just ended
            boolean end = trySignal("QUIT") != 0;
            long deadlineOfDump = System.nanoTime() + DUMP_LIMIT.toNanos();
            while (!end && System.nanoTime() < deadlineOfDump) {
                // an option of the JVM selects the stream
                end = out.has(LAST_OF_DUMP)
                        || err.has(LAST_OF_DUMP)
                        || process.waitFor(DUMP_PAUSE_MS, TimeUnit.MILLISECONDS);
            }
        }

        /** Sends a signal to the process, by its name without SIG. */
        public void signal(String name) throws InterruptedException {
            int status = trySignal(name);
            if (status != 0) {
                throw new AssertionError("kill -" + name + " " + process.pid() + " ended with status " + status);
            }
        }

        private int trySignal(String name) throws InterruptedException {
            try {
                return new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** The exit status and the output of a JVM that has ended. */
    public static final class Finished {
        private final int status;
        private final String out;
        private final String err;

        private Finished(int status, String out, String err) {
            this.status = status;
            this.out = out;
            this.err = err;
            for (String finding : List.of("WARNING in native method", "FATAL ERROR in native method")) {
                if (out.contains(finding) || err.contains(finding)) {
                    throw new AssertionError(CHECK_JNI + " found something in a second JVM:\n" + this);
                }
            }
        }

        /** The exit status. */
        public int status() {
            return status;
        }

        /** The standard output. */
        public String out() {
            return out;
        }

        /** The standard error output, without the line that a JVM prints if it takes options from its environment. */
        public String err() {
            return err.lines()
                    .filter(line -> !line.startsWith("Picked up "))
                    .map(line -> line + "\n")
                    .collect(Collectors.joining());
        }

        @Override
        public String toString() {
            return "exit status " + status + "\n" + out + err;
        }
    }

    /** The lines of a stream, which a thread reads as they arrive. */
    private static final class Output {
        private final List<String> lines = new ArrayList<>();
        private final Thread reader;
        private IOException failure;
        private boolean ended;

        Output(InputStream stream) {
            reader = new Thread(() -> read(stream), "output of a JVM");
            reader.setDaemon(true);
            reader.start();
        }

        private void read(InputStream stream) {
            try (BufferedReader text = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = text.readLine(); line != null; line = text.readLine()) {
                    add(line);
                }
                end(null);
            } catch (IOException e) {
                end(e);
            }
        }

        private synchronized void add(String line) {
            lines.add(line);
            notifyAll();
        }

        private synchronized void end(IOException cause) {
            failure = cause;
            ended = true;
            notifyAll();
        }

        synchronized String awaitLine(String text, int count, long deadline) throws InterruptedException {
            int seen = 0;
            int found = 0;
            while (true) {
                for (; seen < lines.size(); seen++) {
                    if (lines.get(seen).contains(text) && ++found == count) {
                        return lines.get(seen);
                    }
                }
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (ended || millis <= 0) {
                    return null;
                }
                wait(millis);
            }
        }

        synchronized boolean has(String text) {
            return lines.stream().anyMatch(line -> line.contains(text));
        }

        synchronized List<String> soFar() {
            return List.copyOf(lines);
        }

        synchronized boolean hasEnded() {
            return ended;
        }

        synchronized void awaitEnd(long deadline) throws InterruptedException {
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            while (!ended && millis > 0) {
                wait(millis);
                millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            }
        }

        String awaitAll() throws InterruptedException {
            reader.join();
            synchronized (this) {
                if (failure != null) {
                    throw new UncheckedIOException(failure);
                }
                return toString();
            }
        }

        @Override
        public synchronized String toString() {
            return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
        }
    }
}
