// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Jars as the one with the classifier librpma, with any librpma. The build makes that jar only with a profile. */
public final class LibrpmaJar {
    /** The name of the library in the jar, and the name that the shim needs. */
    private static final String NAME = "librpma.so.0";

    /** The version in the manifest. */
    public static final String VERSION = "98.7";

    private static final Path SOURCES = Path.of("src/librpma/java");

    private LibrpmaJar() {}

    /** The file of the librpma that this JVM has loaded. */
    public static Path ofSystem() throws IOException {
        RpmaConnCfg.create().close();
        // the names of mapped files need not be UTF-8
        String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
        Matcher librpma = Pattern.compile("(?m)/\\S*/librpma\\.so\\S*$").matcher(maps);
        assertThat(librpma.find()).as("librpma is loaded").isTrue();
        return Path.of(librpma.group());
    }

    /** Makes a jar with a librpma for this machine. */
    public static Path make(Path directory, byte[] librpma) throws IOException {
        Path classes = directory.resolve("librpma-classes");
        Tool.inThisJvm(
                "javac",
                "--release",
                "17",
                "-Xlint:all",
                "-Werror",
                "-proc:none",
                "-d",
                classes.toString(),
                SOURCES.resolve("module-info.java").toString(),
                SOURCES.resolve("io/rpma/librpma/Librpma.java").toString());
        Path library = classes.resolve(resource().substring(1)).resolveSibling(NAME);
        Files.createDirectories(library.getParent());
        Files.write(library, librpma);
        Path manifest = Files.writeString(directory.resolve("librpma-manifest"), """
                Implementation-Version: %s-6
                Bundle-ManifestVersion: 2
                Bundle-SymbolicName: io.rpma.librpma
                Fragment-Host: io.rpma
                """.formatted(VERSION));
        Path jar = directory.resolve("librpma.jar");
        Tool.inThisJvm(
                "jar",
                "--create",
                // Spring Boot's loader requires that nested jars are not compressed
                "--no-compress",
                "--file",
                jar.toString(),
                "--manifest",
                manifest.toString(),
                "-C",
                classes.toString(),
                ".");
        return jar;
    }

    /** Makes a jar with the librpma of this machine. */
    public static Path make(Path directory) throws IOException {
        return make(directory, Files.readAllBytes(ofSystem()));
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

    /** Copies the jar of the library. The copy has another shim. */
    public static Path libraryWith(Path directory, byte[] shim) throws IOException {
        Path jar = Files.copy(Jvm.libraryJar(), directory.resolve("rpma-java.jar"));
        try (FileSystem content = FileSystems.newFileSystem(jar)) {
            Files.write(content.getPath(resource()), shim);
        }
        return jar;
    }

    /** The shim for this machine. */
    public static byte[] shim() throws IOException {
        try (InputStream stream = Loader.class.getResourceAsStream(resource())) {
            return stream.readAllBytes();
        }
    }

    private static String resource() {
        return Loader.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    /** Replaces the name of a library by a name of the same length. */
    public static byte[] replace(byte[] elf, String name, String other) {
        String text = new String(elf, StandardCharsets.ISO_8859_1);
        assertThat(text).containsOnlyOnce("\0" + name + "\0");
        return text.replace("\0" + name + "\0", "\0" + other + "\0").getBytes(StandardCharsets.ISO_8859_1);
    }
}
