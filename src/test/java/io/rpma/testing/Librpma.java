// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.RpmaConnCfg;
import io.rpma.internal.Loader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The librpma of this machine and the one of the jar, and the shim that needs them. */
public final class Librpma {
    /** The name of the library in the jar, and the name that the shim needs. */
    public static final String NAME = "librpma.so.0";

    private Librpma() {}

    /** The file of the librpma that this JVM has loaded. */
    public static Path ofSystem() throws IOException {
        RpmaConnCfg.create().close();
        // the names of mapped files need not be UTF-8
        String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
        Matcher librpma = Pattern.compile("(?m)/\\S*/librpma\\.so\\S*$").matcher(maps);
        assertThat(librpma.find()).as("librpma is loaded").isTrue();
        return Path.of(librpma.group());
    }

    private static boolean isBundled() {
        return Loader.class.getResource(resource(NAME)) != null;
    }

    /** Ends the test if the build had no mirror of Debian: a release needs one. */
    public static void assumeBundled() {
        assumeTrue(isBundled(), "the build could not fetch librpma");
    }

    /** The option for the librpma of the jar, if it has one. */
    public static String option() {
        return "-Dio.rpma.librpma=" + (isBundled() ? "bundled" : "system");
    }

    /**
     * Returns a value of LD_LIBRARY_PATH with which the dynamic linker can't load the librpma of this machine, as if
     * there were none.
     */
    public static String hiding(Path directory) throws IOException {
        Path first = Files.createDirectory(directory.resolve("hiding"));
        Files.createFile(first.resolve(NAME));
        return first.toString();
    }

    /** Copies the jar of the library, without librpma. */
    public static Path jarWithout(Path directory) throws IOException {
        Path jar = Files.copy(Jvm.libraryJar(), directory.resolve("rpma-java.jar"));
        try (FileSystem content = FileSystems.newFileSystem(jar)) {
            Files.deleteIfExists(content.getPath(resource(NAME)));
        }
        return jar;
    }

    /** The shim for this machine. */
    public static byte[] shim() throws IOException {
        try (InputStream stream = Loader.class.getResourceAsStream(resource("librpma-java.so"))) {
            return stream.readAllBytes();
        }
    }

    private static String resource(String name) {
        String shim = Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        return shim.substring(0, shim.lastIndexOf('/') + 1) + name;
    }

    /** Replaces the name of a library by a name of the same length. */
    public static byte[] replace(byte[] elf, String name, String other) {
        String text = new String(elf, StandardCharsets.ISO_8859_1);
        assertThat(text).containsOnlyOnce("\0" + name + "\0");
        return text.replace("\0" + name + "\0", "\0" + other + "\0").getBytes(StandardCharsets.ISO_8859_1);
    }
}
