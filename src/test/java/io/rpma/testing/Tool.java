// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.spi.ToolProvider;

/** Runs programs of the system and tools of the JDK. */
public final class Tool {
    private Tool() {}

    /** Runs a program, which has to succeed, and returns its output. */
    public static String run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        // Messages as in C, and a JVM finds files whose names have letters outside ASCII.
        environment.put("LC_ALL", "C.UTF-8");
        // Only JVMs run with a sanitizer.
        environment.remove("LD_PRELOAD");
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        if (status != 0) {
            throw new AssertionError(String.join(" ", command) + " ended with " + status + ":\n" + output);
        }
        return output;
    }

    /** Runs a tool of the JDK in this JVM. The tool has to succeed. */
    public static void inThisJvm(String tool, String... arguments) {
        StringWriter messages = new StringWriter();
        PrintWriter writer = new PrintWriter(messages);
        int status = ToolProvider.findFirst(tool).orElseThrow().run(writer, writer, arguments);
        if (status != 0) {
            throw new AssertionError(tool + " ended with " + status + ":\n" + messages);
        }
    }
}
