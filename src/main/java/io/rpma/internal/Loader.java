// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Finds and loads the shim, and before it the librpma of the artifact. If that fails, the error names the remedy. */
public final class Loader {
    /** The system property with the path of the shim. If it is set, the loader unpacks nothing. */
    public static final String LIBRARY_PROPERTY = "io.rpma.library";

    /**
     * The system property with the name of the class loader that has loaded the shim. A build tool that moves the
     * classes to another package also replaces the package in strings, but not in this one, so that all copies of the
     * library share it.
     */
    private static final String CLAIM_PROPERTY = "rpma-java.claim";

    /** The system property from which the shim takes the name of the class of its natives. */
    private static final String NATIVES_PROPERTY = "rpma-java.natives";

    /** The module of the artifact with the classifier librpma. */
    public static final String ARTIFACT = "io.rpma.librpma";

    /**
     * A class of the artifact, beside its libraries. To find a class is faster than to find a resource: the JDK's are
     * not opened.
     */
    private static final String NEIGHBOUR = "io.rpma.librpma.Librpma";

    private static final String LIBRARY = "librpma-java.so";

    private static final String LIBRPMA = "librpma.so.0";

    private static final String REMEDY =
            "rpma-java needs librpma 1.2 or later: librpma0 on Debian and Ubuntu, librpma on Fedora, or the artifact rpma-java with"
                    + " the classifier librpma (module " + ARTIFACT + ")";

    private static volatile boolean loaded;

    /** The path from which the librpma of the artifact was loaded, or null. */
    private static volatile String unpackedLibrpma;

    /** The failure of the first attempt, or null. */
    private static Throwable firstFailure;

    private Loader() {}

    /**
     * Loads the shim, unless it is loaded. After a failure the next call tries again, because a lack of descriptors or
     * memory is temporary.
     *
     * @throws UnsatisfiedLinkError if the shim can't be loaded; the message names the remedy, and the failure of the
     *     first attempt if it was a different one
     */
    public static void ensureLoaded() {
        if (!loaded) {
            loadOnce();
        }
    }

    private static synchronized void loadOnce() {
        if (loaded) {
            return;
        }
        try {
            load();
            loaded = true;
        } catch (UnsatisfiedLinkError e) {
            throw afterFirst(e);
        } catch (Throwable e) {
            firstFailure = firstFailure == null ? e : firstFailure;
            throw e;
        }
    }

    private static UnsatisfiedLinkError afterFirst(UnsatisfiedLinkError failure) {
        Throwable first = firstFailure;
        if (first == null) {
            firstFailure = failure;
            return failure;
        }
        String reason = first instanceof UnsatisfiedLinkError ? first.getMessage() : first.toString();
        return failure.getMessage().equals(reason)
                ? failure
                : withCause(
                        new UnsatisfiedLinkError(failure.getMessage() + "; the first attempt failed: " + reason),
                        failure);
    }

    private static void load() {
        reserve();
        boolean done = false;
        try {
            String path = System.getProperty(LIBRARY_PROPERTY);
            if (path != null) {
                loadNamed(path);
            } else {
                loadPackaged();
            }
            done = true;
        } finally {
            if (!done) {
                System.clearProperty(CLAIM_PROPERTY);
            }
        }
    }

    /**
     * Reserves the shim for this class loader. librpma has one log function for the whole process, which a second copy
     * of the shim would replace.
     */
    private static void reserve() {
        ClassLoader loader = Loader.class.getClassLoader();
        String name = loader == null || loader.getName() == null ? String.valueOf(loader) : loader.getName();
        Object owner = System.getProperties().putIfAbsent(CLAIM_PROPERTY, name);
        if (owner != null) {
            throw new UnsatisfiedLinkError("rpma-java was already loaded in this JVM by the class loader " + owner
                    + ", and librpma serves only one copy until the JVM ends: put one rpma-java jar where all users share it,"
                    + " for example into the server's common library directory");
        }
    }

    private static void loadNamed(String path) {
        Path library = Path.of(path);
        if (!Files.isReadable(library)) {
            throw new UnsatisfiedLinkError("-D" + LIBRARY_PROPERTY + "=" + path + " names no file that can be read");
        }
        load(library, library.toAbsolutePath().toString());
    }

    private static void loadPackaged() {
        String directory = directory(System.getProperty("os.name"), System.getProperty("os.arch"));
        try {
            loadLibrpma(directory);
            loadCopy(Loader.class, directory + LIBRARY, LIBRARY);
        } catch (IOException e) {
            throw withCause(
                    new UnsatisfiedLinkError("can't unpack the library into " + temporaryDirectory() + " (" + e
                            + "): name another directory with -Djava.io.tmpdir, or an unpacked library with -D"
                            + LIBRARY_PROPERTY),
                    e);
        }
    }

    /**
     * Loads the librpma of the artifact, if the program has the artifact. The dynamic linker then takes it for the
     * librpma that the shim needs, because it has the name that the shim needs. After a failure of the shim it stays
     * loaded.
     */
    private static void loadLibrpma(String directory) throws IOException {
        if (unpackedLibrpma != null) {
            return;
        }
        Class<?> neighbour;
        try {
            neighbour = Class.forName(NEIGHBOUR, false, Loader.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            // the dynamic linker finds the librpma of the system
            return;
        }
        unpackedLibrpma = loadCopy(neighbour, directory + LIBRPMA, ARTIFACT);
    }

    /** Returns the path from which the librpma of the artifact was loaded, or null. The file is deleted. */
    public static String unpackedLibrpma() {
        return unpackedLibrpma;
    }

    /** Returns the bytes of a resource that is beside a class, or null if it does not exist. */
    private static byte[] read(Class<?> neighbour, String resource) throws IOException {
        byte[] bytes = readFromJar(neighbour, resource);
        if (bytes != null) {
            return bytes;
        }
        try (InputStream stream = neighbour.getResourceAsStream(resource)) {
            return stream == null ? null : stream.readAllBytes();
        }
    }

    /**
     * Returns the bytes of a resource, or null if the class is not from an ordinary jar file that has the resource.
     * Reads the jar itself, because the class loader would first open the JDK's resources, which takes longer than the
     * rest of the loading.
     */
    private static byte[] readFromJar(Class<?> neighbour, String resource) {
        CodeSource source = neighbour.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        try (ZipFile jar = new ZipFile(new File(source.getLocation().toURI()))) {
            ZipEntry entry = jar.getEntry(resource.substring(1));
            return entry == null ? null : jar.getInputStream(entry).readAllBytes();
        } catch (IOException | URISyntaxException | IllegalArgumentException e) {
            // the class is from a directory, a nested jar, or a jar that was replaced
            return null;
        }
    }

    /**
     * Loads a library that is beside a class, and returns the path of the copy. In messages, the name replaces the
     * path.
     */
    private static String loadCopy(Class<?> neighbour, String resource, String name) throws IOException {
        byte[] library = read(neighbour, resource);
        if (library == null) {
            throw new UnsatisfiedLinkError(resource + " is not in the jar: this build of rpma-java has no library for"
                    + " this platform; build it there and name the result with -D" + LIBRARY_PROPERTY);
        }
        Path directory = createDirectory();
        Path copy = directory.resolve(resource.substring(resource.lastIndexOf('/') + 1));
        try {
            try (OutputStream file = new FileOutputStream(copy.toFile())) {
                file.write(library);
            }
            // the JDK and the dynamic linker use the path without symbolic links
            Path real = copy.toRealPath();
            load(real, name);
            return real.toString();
        } finally {
            delete(copy);
            delete(directory);
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            Log.logger().log(System.Logger.Level.WARNING, "can't delete " + path, e);
        }
    }

    /**
     * Creates a directory that only the user can access. Avoids parts of the JDK that are slow to start: the random
     * names of createTempDirectory need all security providers, and a file with permissions needs channels.
     */
    private static Path createDirectory() throws IOException {
        Path parent = Path.of(temporaryDirectory());
        Set<PosixFilePermission> ownersAlone = Set.of(
                PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);
        while (true) {
            Path directory = parent.resolve("rpma-java-" + System.nanoTime());
            try {
                return Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(ownersAlone));
            } catch (FileAlreadyExistsException e) {
                // another process uses this name: the next attempt has a new one
                continue;
            }
        }
    }

    /** Loads the library. In messages, the name replaces the path. */
    private static void load(Path library, String name) {
        String path = library.toAbsolutePath().toString();
        System.setProperty(NATIVES_PROPERTY, Natives.class.getName().replace('.', '/'));
        try {
            System.load(path);
        } catch (UnsatisfiedLinkError e) {
            String message = String.valueOf(e.getMessage()).replace(path, name);
            throw withCause(new UnsatisfiedLinkError(explain(message)), e);
        } catch (RuntimeException e) {
            // native access is denied: an IllegalCallerException, which JDKs after 17 throw
            throw withCause(
                    new UnsatisfiedLinkError(e.getMessage() + ": start Java with --enable-native-access="
                            + (Loader.class.getModule().isNamed()
                                    ? Loader.class.getModule().getName()
                                    : "ALL-UNNAMED")),
                    e);
        } finally {
            System.clearProperty(NATIVES_PROPERTY);
        }
    }

    /** Returns the path of the shim in the jar, or throws an error for a platform that is not supported. */
    public static String resource(String os, String arch) {
        return directory(os, arch) + LIBRARY;
    }

    /** Returns the path of the libraries in their jars, or throws an error for a platform that is not supported. */
    private static String directory(String os, String arch) {
        String directory;
        switch (arch.toLowerCase(Locale.ROOT)) {
            case "amd64":
            case "x86_64":
                directory = "linux-x86_64";
                break;
            case "aarch64":
                directory = "linux-aarch64";
                break;
            default:
                directory = null;
        }
        if (!os.equals("Linux") || directory == null) {
            throw new UnsatisfiedLinkError(
                    "rpma-java runs on Linux on x86_64 and aarch64, this is " + os + " on " + arch);
        }
        return "/META-INF/native/" + directory + "/";
    }

    /** Adds the remedy to a message of the dynamic linker. */
    static String explain(String message) {
        Matcher old =
                Pattern.compile("(/\\S*librpma\\.so\\S*): version `LIBRPMA_").matcher(message);
        if (old.find()) {
            return message + "; " + old.group(1) + " is librpma" + versionOf(Path.of(old.group(1))) + ". " + REMEDY;
        }
        if (message.contains("undefined symbol: rpma_")) {
            return message + "; the librpma that was found lacks this function. " + REMEDY
                    + "; LD_LIBRARY_PATH and 'ldconfig -p' name the librpma that is found";
        }
        if (message.contains("librpma.so")) {
            return message + "; librpma is not installed. " + REMEDY;
        }
        if (message.contains("libibverbs.so")) {
            return message
                    + "; rdma-core is not installed or too old: libibverbs1 and ibverbs-providers on Debian and Ubuntu,"
                    + " libibverbs on Fedora and RHEL, libibverbs1 on openSUSE";
        }
        if (message.contains("librdmacm.so")) {
            return message
                    + "; rdma-core is not installed or too old: librdmacm1 on Debian and Ubuntu, librdmacm on Fedora and"
                    + " RHEL, librdmacm1 on openSUSE";
        }
        if (message.contains("failed to map segment") || message.contains("Operation not permitted")) {
            return message + "; " + temporaryDirectory() + " seems to be mounted noexec: name another directory with"
                    + " -Djava.io.tmpdir, or an unpacked library with -D" + LIBRARY_PROPERTY;
        }
        return message;
    }

    /**
     * Returns a space and the version of a librpma before 1.0, or an empty text. librpma has it in the names of its
     * symbols.
     */
    private static String versionOf(Path librpma) {
        try {
            Matcher version = Pattern.compile("LIBRPMA_([\\d.]+)")
                    .matcher(Files.readString(librpma, StandardCharsets.ISO_8859_1));
            return version.find() ? " " + version.group(1) : "";
        } catch (IOException e) {
            return "";
        }
    }

    private static String temporaryDirectory() {
        return System.getProperty("java.io.tmpdir");
    }

    private static UnsatisfiedLinkError withCause(UnsatisfiedLinkError error, Throwable cause) {
        error.initCause(cause);
        return error;
    }
}
