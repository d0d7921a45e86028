package io.rpma.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/**
 * The machine and the date of a suite's run.
 *
 * @param cpu the number and the model of the processors
 * @param kernel the name and the release of the kernel
 * @param jdk the name and the version of the virtual machine
 * @param librpma the version of librpma, or a description of its replacement
 * @param date the time of the run in UTC, in the format of ISO 8601
 */
public record Machine(String cpu, String kernel, String jdk, String librpma, String date) {

    /** Returns this machine with the current date. */
    public static Machine here(String librpma) throws IOException {
        return new Machine(
                Runtime.getRuntime().availableProcessors() + " x " + cpuModel(),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                librpma,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** Returns the model of the processor, or the architecture if the kernel reports no model (on other machines than x86). */
    private static String cpuModel() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
