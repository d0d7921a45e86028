// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** C programs and libraries, most of them in {@code src/test/c}. */
public final class CProgram {
    private static final Path SOURCES = Path.of("src/test/c");

    private CProgram() {}

    /** The librpma that does nothing, {@code src/test/c/noop}. */
    public static Path noopLibrpma() {
        return Path.of("target/noop/librpma.so.0").toAbsolutePath();
    }

    /** Compiles a source file into a directory. */
    public static Path compile(Path directory, String source, String... options)
            throws IOException, InterruptedException {
        Path result = directory.resolve(source.replaceAll("\\.c$", ""));
        List<String> words = new ArrayList<>(List.of(
                "gcc", "-Wall", "-o", result.toString(), SOURCES.resolve(source).toString()));
        words.addAll(List.of(options));
        Finished gcc = run(Map.of(), words.toArray(new String[0]));
        if (gcc.status != 0) {
            throw new AssertionError(gcc.output);
        }
        return result;
    }

    /** Runs a command to its end, without the sanitizer that this JVM may run with. */
    public static Finished run(Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("LD_PRELOAD");
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(Limit.WAIT_S, TimeUnit.SECONDS)) {
                throw new AssertionError(String.join(" ", command) + " has not ended in " + Limit.WAIT_S + " s");
            }
            return new Finished(process.exitValue(), output);
        } finally {
            process.destroyForcibly();
        }
    }

    /** The exit status and the output of a process that has ended. */
    public static final class Finished {
        private final int status;
        private final String output;

        private Finished(int status, String output) {
            this.status = status;
            this.output = output;
        }

        /** The exit status, or 128 plus the number of the signal that ended the process. */
        public int status() {
            return status;
        }

        /** The standard output and error output. */
        public String output() {
            return output;
        }
    }
}
