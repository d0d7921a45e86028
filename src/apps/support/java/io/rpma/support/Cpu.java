// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The processors of this machine. */
public final class Cpu {
    private Cpu() {}

    /** Returns the number and the model of the processors, or their architecture if the kernel reports no model. */
    public static String description() throws IOException {
        return Runtime.getRuntime().availableProcessors() + " x " + model();
    }

    private static String model() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
