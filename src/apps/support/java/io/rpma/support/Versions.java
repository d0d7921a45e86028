// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaPeer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions of the software below a program. A version is null if it is not known.
 *
 * @param rpmaJava of this library
 * @param librpma of the package that has installed the loaded librpma, or of the one in the jar, which is then called
 *     bundled; librpma itself does not contain its version
 * @param rdmaCore of the loaded libibverbs
 * @param kernel of the running kernel
 * @param java of this JVM
 */
public record Versions(String rpmaJava, String librpma, String rdmaCore, String kernel, String java) {
    private static final Path MAPPED = Path.of("/proc/self/maps");

    /** The number of the file ends with the version of rdma-core. */
    private static final Pattern LIBIBVERBS = Pattern.compile("libibverbs\\.so\\.\\d+\\.\\d+\\.([\\d.]+)");

    /** The list of what is in the jar, with the version of its librpma. */
    private static final String BUNDLED = "/META-INF/sbom/librpma.cdx.json";

    private static final Pattern VERSION = Pattern.compile("\"version\": \"([^\"]+)\"");

    private static final int LIMIT_S = 10;

    /** Finds the versions. The libraries must be loaded. */
    public static Versions find() throws IOException, InterruptedException {
        // The names of mapped files need not be UTF-8.
        String maps = Files.readString(MAPPED, StandardCharsets.ISO_8859_1);
        return new Versions(
                Product.version(),
                librpma(mapped(maps, "librpma.so")),
                rdmaCore(mapped(maps, "libibverbs.so")),
                System.getProperty("os.version"),
                System.getProperty("java.version"));
    }

    /** Returns the file of a library, or null if the file was deleted, as one from the jar is. */
    private static Path mapped(String maps, String library) {
        Matcher path =
                Pattern.compile("(?m)/.*/" + Pattern.quote(library) + "\\S*$").matcher(maps);
        return path.find() ? Path.of(path.group()) : null;
    }

    /** Returns the versions with their names, as a page shows them. */
    public Map<String, String> rows() {
        Map<String, String> rows = new LinkedHashMap<>();
        rows.put("rpma-java", known(rpmaJava));
        rows.put("librpma", known(librpma));
        rows.put("rdma-core", known(rdmaCore));
        rows.put("kernel", kernel);
        rows.put("Java", java);
        return rows;
    }

    /** Returns what a page shows for a text that is null if it is not known. */
    public static String known(String text) {
        return text == null ? "unknown" : text;
    }

    /** Returns the version of librpma, or null if it is not known. */
    private static String librpma(Path file) throws IOException, InterruptedException {
        if (file != null) {
            return packageVersion(file);
        }
        try (InputStream list = RpmaPeer.class.getResourceAsStream(BUNDLED)) {
            Matcher version =
                    VERSION.matcher(list == null ? "" : new String(list.readAllBytes(), StandardCharsets.UTF_8));
            return version.find() ? upstream(version.group(1)) + ", bundled" : null;
        }
    }

    /** Returns the version of rdma-core, or null if the name of the file has none or the file was deleted. */
    static String rdmaCore(Path libibverbs) {
        if (libibverbs == null) {
            return null;
        }
        Matcher version = LIBIBVERBS.matcher(libibverbs.getFileName().toString());
        return version.matches() ? version.group(1) : null;
    }

    /** Returns the version of the package that has installed a file, or null if no package has. */
    private static String packageVersion(Path file) throws IOException, InterruptedException {
        if (Files.isExecutable(Path.of("/usr/bin/dpkg-query"))) {
            String owner = output("dpkg-query", "--search", file.toString());
            return owner == null
                    ? null
                    : upstream(output("dpkg-query", "--show", "--showformat=${Version}", owner.replaceAll(": .*", "")));
        }
        return Files.isExecutable(Path.of("/usr/bin/rpm"))
                ? output("rpm", "--query", "--queryformat=%{VERSION}", "--file", file.toString())
                : null;
    }

    /** Removes the epoch and the revision of Debian. */
    static String upstream(String version) {
        return version == null ? null : version.replaceAll("^\\d+:|-[^-]*$", "");
    }

    /** Returns the first line of the output of a command, or null if the command fails. */
    private static String output(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(command))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        process.getOutputStream().close();
        // the output fits into the pipe
        boolean ended = process.waitFor(LIMIT_S, TimeUnit.SECONDS);
        String line = ended ? process.inputReader().readLine() : null;
        process.destroyForcibly();
        return ended && process.exitValue() == 0 ? line : null;
    }
}
