// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConnCfg;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Loads the library, and prints which librpma is mapped; also run as a source file, with only jars on the path. */
public final class LibrpmaProgram {
    /** A file of the name is mapped. Loader deletes the copies that it loads. */
    private static final Pattern MAPPED = Pattern.compile("(?m) (/.*/librpma\\.so.*)$");

    private LibrpmaProgram() {}

    /** Prints "loaded" or the error of each of two attempts; then the files, with the directory of a copy replaced. */
    public static void main(String[] arguments) throws IOException {
        for (int attempt = 0; attempt < 2; attempt++) {
            try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
                System.out.println(cfg.getTimeout() > 0 ? "loaded" : "no timeout");
            } catch (UnsatisfiedLinkError e) {
                System.out.println(e.getMessage());
            }
        }
        MAPPED.matcher(Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1))
                .results()
                .map((MatchResult file) -> file.group(1))
                .distinct()
                .map(file -> file.replaceFirst("^/.*/rpma-java-\\d+/(.*) \\(deleted\\)$", "copy of $1"))
                .forEach(System.out::println);
    }
}
