// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.Errors;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The files of the results.
 *
 * @param csv a file for comma-separated values, or null
 * @param json a file for JSON, or null
 * @param charts a directory for pictures, or null
 */
record PerfFiles(Path csv, Path json, Path charts) {
    /** Writes a file. */
    private interface Writing {
        /** Writes it. */
        void write() throws IOException;
    }

    /**
     * Writes all files. A file that can't be written does not keep the others from being written.
     *
     * @throws IOException if files can't be written; the message has a reason for each
     */
    void write(PerfReport.Machine machine, List<PerfResult> results) throws IOException {
        List<IOException> failures = new ArrayList<>();
        attempt(csv, failures, () -> Files.writeString(csv, PerfReport.csv(results)));
        attempt(json, failures, () -> Files.writeString(json, PerfReport.json(machine, results)));
        attempt(charts, failures, () -> PerfCharts.draw(machine, results, charts));
        if (!failures.isEmpty()) {
            IOException failure = new IOException(
                    "the results can't be written: "
                            + failures.stream().map(Errors::line).collect(Collectors.joining("; ")),
                    failures.get(0));
            failures.stream().skip(1).forEach(failure::addSuppressed);
            throw failure;
        }
    }

    private static void attempt(Path file, List<IOException> failures, Writing writing) {
        try {
            if (file != null) {
                writing.write();
            }
        } catch (FileSystemException e) {
            failures.add(e);
        } catch (IOException | RuntimeException | Error e) {
            // a failed write does not name its file
            failures.add(new IOException(file + ": " + Errors.line(e), e));
        }
    }
}
