// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaMemory;
import io.rpma.RpmaPeerCfg;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Uses the library while no thread can be started, and again when threads can be started. */
public final class NoThreadsProgram {
    private NoThreadsProgram() {}

    /**
     * @param arguments the file that prevents new threads
     */
    public static void main(String[] arguments) throws Exception {
        Path file = Files.createFile(Path.of(arguments[0]));
        use("without threads, ");
        Files.delete(file);
        use("");
    }

    /** Prints the outcome of each use of the library, after a prefix. */
    static void use(String prefix) {
        Map<String, Runnable> uses = new LinkedHashMap<>();
        uses.put("memory", () -> RpmaMemory.allocate(1).close());
        uses.put("conn cfg", () -> RpmaConnCfg.create().close());
        uses.put("peer cfg", () -> RpmaPeerCfg.create().close());
        uses.put("completions", () -> RpmaCompletions.create(1));
        uses.forEach((name, use) -> print(prefix + name, use));
    }

    private static void print(String name, Runnable use) {
        try {
            use.run();
            System.out.println(name + ": done");
        } catch (Throwable e) {
            System.out.println(name + ": " + e);
        }
    }
}
