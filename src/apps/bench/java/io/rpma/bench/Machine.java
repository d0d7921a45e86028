// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import io.rpma.support.Cpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The machine and the date of a suite's run.
 *
 * @param cpu the number and the model of the processors
 * @param kernel the name and the release of the kernel
 * @param jdk the name and the version of the virtual machine
 * @param librpma the version of librpma, or a description of its replacement
 * @param device a description of the RDMA device
 * @param date the time of the run in UTC, in the format of ISO 8601
 */
public record Machine(String cpu, String kernel, String jdk, String librpma, String device, String date) {

    private static final int DATE = "2026-11-21".length();

    /**
     * Returns this machine with the current date. Its description of the device also states whether the machine is a
     * guest.
     */
    public static Machine here(String librpma, String device) throws IOException {
        String cpu = Cpu.description();
        return new Machine(
                cpu,
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                librpma,
                device + guest(cpu),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** Returns the bytes of memory that programs can still use. */
    public static long availableMemory() throws IOException {
        Matcher available =
                Pattern.compile("(?m)^MemAvailable: +(\\d+) kB$").matcher(Files.readString(Path.of("/proc/meminfo")));
        if (!available.find()) {
            throw new IOException("/proc/meminfo has no line MemAvailable");
        }
        return Long.parseLong(available.group(1)) * 1024;
    }

    /** Returns the kind of an emulated guest, from the name of its processor. */
    private static String guest(String cpu) {
        if (cpu.contains("TCG")) {
            return ", emulated";
        }
        return cpu.endsWith(" UML") ? ", user-mode Linux" : "";
    }

    /** Returns the machine and the date in one line. */
    String description() {
        String java = "Java " + jdk.substring(jdk.lastIndexOf(' ') + 1);
        return String.join(", ", cpu, kernel, java, "librpma " + librpma, date.substring(0, DATE));
    }
}
