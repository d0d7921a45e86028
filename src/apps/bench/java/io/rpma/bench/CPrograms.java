// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The C programs of the benchmarks, from {@code src/apps/bench/c}. */
public final class CPrograms {
    private CPrograms() {}

    /** Compiles all programs into a directory. This takes a second and needs a C compiler. */
    public static void build(Path directory) throws IOException, InterruptedException {
        run("src/apps/bench/c/build", directory.toString());
    }

    /**
     * Runs a program and returns its output.
     *
     * @throws IOException if the program can't be started, or fails; the message then contains its output
     */
    public static String run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // The preloaded sanitizer is only for the JVMs.
        builder.environment().remove("LD_PRELOAD");
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(String.join(" ", command) + " ended with status " + status + ": " + output);
            }
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
