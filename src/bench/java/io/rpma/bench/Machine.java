// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import io.rpma.tools.common.Cpu;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

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
                Cpu.description(),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                librpma,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }
}
