// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles the programs of the documents as their readers do: with the jar of the library alone. */
public final class Javac {
    private Javac() {}

    /** Compiles sources. A warning is a failure. */
    public static void compile(Path classes, Path... sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of(
                "-Xlint:all", "-Werror", "-proc:none", "-cp", Jvm.libraryJar().toString(), "-d", classes.toString());
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(messages, files, null, options, null, files.getJavaFileObjects(sources))
                    .call();
            assertTrue(compiled, messages.toString());
        }
    }
}
