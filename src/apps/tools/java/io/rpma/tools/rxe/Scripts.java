// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.rxe;

import io.rpma.support.Errors;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The script {@code native/rxe} and its parts. */
final class Scripts {
    /** The directories of the scripts in the jar. */
    private static final List<String> DIRECTORIES = List.of("native/", "src/bed/");

    private static final int KEY_LENGTH = 12;

    private static final FileAttribute<Set<PosixFilePermission>> EXECUTABLE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x"));

    private final SortedMap<String, byte[]> files;

    Scripts(SortedMap<String, byte[]> files) {
        this.files = files;
    }

    /** Reads the scripts from the jar that has this class. */
    static Scripts ofThisJar() throws IOException {
        Path jar = Path.of(location());
        if (Files.isDirectory(jar)) {
            throw new IOException(jar + " is no jar of the tools: use native/rxe of the checkout");
        }
        SortedMap<String, byte[]> files = new TreeMap<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                if (DIRECTORIES.stream().anyMatch(entry.getName()::startsWith) && !entry.isDirectory()) {
                    files.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
                }
            }
        }
        return new Scripts(files);
    }

    private static URI location() {
        try {
            return Scripts.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the directory that native/rxe uses as its cache. */
    static Path cache(Map<String, String> environment) {
        String cache = environment.get("RPMA_CACHE");
        if (cache != null && !cache.isEmpty()) {
            return Path.of(cache);
        }
        String caches = environment.get("XDG_CACHE_HOME");
        boolean set = caches != null && !caches.isEmpty();
        return (set ? Path.of(caches) : Path.of(home(environment), ".cache")).resolve("rpma-java");
    }

    /** The property user.home can be another directory, which the script does not know. */
    private static String home(Map<String, String> environment) {
        String home = environment.get("HOME");
        return home == null || home.isEmpty() ? "/root" : home;
    }

    /**
     * Writes the scripts into a directory of the cache, unless they are there. The name of the directory depends on the
     * contents, so that several versions of the tools can use one cache.
     *
     * @return the path of the script
     */
    Path unpack(Path cache) throws IOException {
        Path directory = cache.resolve("rxe-" + key());
        if (!Files.exists(directory)) {
            try {
                unpack(Files.createDirectories(cache), directory);
            } catch (FileSystemException e) {
                throw new IOException(
                        "can't write in " + cache + " (" + Errors.line(e)
                                + "): set RPMA_CACHE to a directory that you can write",
                        e);
            }
        }
        return directory.resolve("native/rxe");
    }

    /** Renames a complete directory, because other JVMs may start at the same time, and this one may be killed. */
    private void unpack(Path cache, Path directory) throws IOException {
        Path unfinished = Files.createTempDirectory(cache, "rxe-", EXECUTABLE);
        try {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                Path path = unfinished.resolve(file.getKey());
                Files.createDirectories(path.getParent());
                Files.write(Files.createFile(path, EXECUTABLE), file.getValue());
            }
            Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!Files.exists(directory)) {
                throw e;
            }
            // another JVM has made it meanwhile
        } finally {
            remove(unfinished);
        }
    }

    private static void remove(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> paths = Files.walk(directory)) {
                List<Path> contentsFirst =
                        paths.sorted(Comparator.reverseOrder()).toList();
                for (Path path : contentsFirst) {
                    Files.delete(path);
                }
            }
        }
    }

    private String key() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                digest.update(file.getKey().getBytes(StandardCharsets.UTF_8));
                digest.update(file.getValue());
            }
            return HexFormat.of().formatHex(digest.digest()).substring(0, KEY_LENGTH);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each JDK has SHA-256
        }
    }
}
