package io.rpma.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/**
 * Where and when a suite ran.
 *
 * @param cpu how many processors of which model
 * @param kernel its name and release
 * @param jdk the name and version of the virtual machine
 * @param librpma its version, or what stood in for it
 * @param date in UTC, as ISO 8601 has it
 */
public record Machine(String cpu, String kernel, String jdk, String librpma, String date) {

    /** This machine, now. */
    public static Machine here(String librpma) throws IOException {
        return new Machine(
                Runtime.getRuntime().availableProcessors() + " x " + cpuModel(),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                librpma,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** As x86 kernels tell it; others have no such line. */
    private static String cpuModel() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
