// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The report of a suite.
 *
 * @param suite the name of the suite, for example {@code cost}
 * @param machine the machine of the run
 * @param results the measured values
 * @param targets the targets and whether they are met
 */
public record Report(String suite, Machine machine, List<Result> results, List<Target> targets) {
    private static final Gson JSON =
            new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    /**
     * Reads a report that {@link #write} has written.
     *
     * @throws IOException if the file can't be read, or is not a report
     */
    public static Report read(Path file) throws IOException {
        Report report;
        try {
            report = JSON.fromJson(Files.readString(file), Report.class);
        } catch (JsonParseException e) {
            throw new IOException(file + " is no report: " + e.getMessage(), e);
        }
        if (report == null
                || report.suite == null
                || report.machine == null
                || report.results == null
                || report.targets == null) {
            throw new IOException(file + " is no report: it has not all of suite, machine, results and targets");
        }
        return report;
    }

    /** Writes the report to a file, in JSON. */
    public void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, JSON.toJson(this) + "\n");
    }

    /** Returns whether no target is missed. Noisy measurements miss no target. */
    public boolean passes() {
        return targets.stream().noneMatch(target -> target.verdict() == Target.Verdict.MISS);
    }
}
