// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class if, while the class ran, a JVM wrote a warning of {@code -Xcheck:jni} or left a crash report or a
 * report of a sanitizer. This includes JVMs that tests start with the options of this JVM.
 *
 * <p>The VM prints such warnings and continues. The build makes the VM write them to a file in the directory that the
 * property {@code rpma.test.output} names. Without the property (in an IDE, for example) nothing is checked.
 */
public final class VmOutputCheck implements AfterAllCallback {
    private static final String LOGS = "vm_pid*.log";
    private static final String REPORTS = "{hs_err_*,sanitizer.*}";
    // A warning and the Java stack below it, which ends where the next record or tag begins.
    private static final Pattern WARNING =
            Pattern.compile("^(WARNING|FATAL ERROR)\\b.*(\\R\\s+(at|-) .*)*", Pattern.MULTILINE);
    private static final Path DIRECTORY = directory();
    private static final Map<Path, Integer> SEEN = new HashMap<>();

    static {
        if (DIRECTORY != null) {
            start();
        }
    }

    private static Path directory() {
        String name = System.getProperty("rpma.test.output");
        return name == null ? null : Path.of(name);
    }

    private static void start() {
        Path own = DIRECTORY.resolve("vm_pid" + ProcessHandle.current().pid() + ".log");
        if (!Files.exists(own)) {
            throw new IllegalStateException("The VM does not log to " + own + ": see the argLine in pom.xml");
        }
        for (Path log : list(LOGS)) {
            if (!log.equals(own) && !log.toFile().delete()) {
                throw new IllegalStateException("Can't delete " + log);
            }
        }
        list(REPORTS).forEach(VmOutputCheck::unseen);
        // Checks the output after the last test class.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            String found = check();
            if (!found.isEmpty()) {
                System.err.println(found);
                System.err.flush();
                Runtime.getRuntime().halt(1);
            }
        }));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (DIRECTORY != null) {
            String found = check();
            if (!found.isEmpty()) {
                throw new AssertionError(found);
            }
        }
    }

    /** Returns the warnings and reports since the last call. */
    private static synchronized String check() {
        StringBuilder found = new StringBuilder();
        for (Path log : list(LOGS)) {
            Matcher matcher = WARNING.matcher(unseen(log));
            while (matcher.find()) {
                found.append(log).append(": ").append(matcher.group()).append('\n');
            }
        }
        for (Path report : list(REPORTS)) {
            String text = unseen(report);
            if (!text.isEmpty()) {
                found.append(report)
                        .append(":\n")
                        .append(text.lines().limit(60).collect(Collectors.joining("\n")))
                        .append('\n');
            }
        }
        return found.toString();
    }

    /** The whole lines that were added since the last call. */
    private static String unseen(Path file) {
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int end = text.lastIndexOf('\n') + 1;
        Integer begin = SEEN.put(file, end);
        return text.substring(begin == null || begin > end ? 0 : begin, end);
    }

    private static List<Path> list(String glob) {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(DIRECTORY, glob)) {
            stream.forEach(files::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return files;
    }
}
