// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * A JDK of this machine.
 *
 * @param feature the version, for example 25
 * @param home the directory
 */
public record Jdk(int feature, Path home) {
    private static final Path DIRECTORY = Path.of("/usr/lib/jvm");
    private static final int OLDEST = 17;

    /** The JDK of this JVM, and one JDK of each other version that the library supports. */
    public static List<Jdk> installed() {
        Map<Integer, Jdk> found = new TreeMap<>();
        int running = Runtime.version().feature();
        found.put(running, new Jdk(running, Path.of(System.getProperty("java.home"))));
        try (DirectoryStream<Path> homes = Files.newDirectoryStream(DIRECTORY)) {
            for (Path home : homes) {
                if (Files.isExecutable(home.resolve("bin/javac")) && Files.exists(home.resolve("release"))) {
                    int feature = feature(home);
                    if (feature >= OLDEST) {
                        found.putIfAbsent(feature, new Jdk(feature, home));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ArrayList<>(found.values());
    }

    private static int feature(Path home) throws IOException {
        Properties release = new Properties();
        try (InputStream file = Files.newInputStream(home.resolve("release"))) {
            release.load(file);
        }
        return Runtime.Version.parse(release.getProperty("JAVA_VERSION").replace("\"", ""))
                .feature();
    }

    /** Whether a JVM can be told to deny native access that was not enabled. */
    public boolean deniesNativeAccess() {
        return feature >= 24;
    }

    /** A tool of this JDK. */
    public String tool(String name) {
        return home.resolve("bin").resolve(name).toString();
    }

    @Override
    public String toString() {
        return "JDK " + feature;
    }
}
