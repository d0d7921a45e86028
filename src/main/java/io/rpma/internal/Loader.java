package io.rpma.internal;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.Locale;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Finds and loads the shim, and says what to do when that fails. */
public final class Loader {
    /** A path to the shim; when set, nothing else is tried. */
    public static final String LIBRARY_PROPERTY = "io.rpma.library";

    /** Set in the JVM by the class loader that has loaded the shim. */
    private static final String CLAIM_PROPERTY = "io.rpma.claim";

    private static final String LIBRARY = "librpma-java.so";

    private static volatile boolean loaded;

    /** Of the first attempt; null if that is the last one, too. */
    private static Throwable firstFailure;

    private Loader() {}

    /**
     * Loads the shim, unless it is loaded. What was missing for a moment, a descriptor or memory, is no reason to do without it
     * for good: each call tries again.
     *
     * @throws UnsatisfiedLinkError if that fails; its message names the remedy, and the first failure if it was another one
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
        claim();
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
     * librpma has one log function for the whole process, so a second copy of the shim would steal it from the first.
     */
    private static void claim() {
        ClassLoader loader = Loader.class.getClassLoader();
        String name = loader == null || loader.getName() == null ? String.valueOf(loader) : loader.getName();
        Object owner = System.getProperties().putIfAbsent(CLAIM_PROPERTY, name);
        if (owner != null) {
            throw new UnsatisfiedLinkError("io.rpma was already loaded in this JVM by the class loader " + owner
                    + ", and librpma serves only one until the JVM ends: put the rpma-java jar where both users share it, for example"
                    + " into the server's common library directory");
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
        String resource = resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        try {
            byte[] library = read(resource);
            if (library == null) {
                throw new UnsatisfiedLinkError(
                        resource + " is not in the jar: this build of rpma-java has no library for"
                                + " this platform; build it there and name the result with -D" + LIBRARY_PROPERTY);
            }
            loadCopy(library);
        } catch (IOException e) {
            throw withCause(
                    new UnsatisfiedLinkError("can't unpack the library into " + temporaryDirectory() + " (" + e
                            + "): name another directory with -Djava.io.tmpdir, or an unpacked library with -D"
                            + LIBRARY_PROPERTY),
                    e);
        }
    }

    /** The bytes of a resource, or null if there is none. */
    private static byte[] read(String resource) throws IOException {
        byte[] bytes = readFromJar(resource);
        if (bytes != null) {
            return bytes;
        }
        try (InputStream stream = Loader.class.getResourceAsStream(resource)) {
            return stream == null ? null : stream.readAllBytes();
        }
    }

    /**
     * The bytes of a resource, or null if this class is not from an ordinary jar file. The class loader would first look
     * among the JDK's own resources, which take longer to open than all the rest of the loading.
     */
    private static byte[] readFromJar(String resource) {
        CodeSource source = Loader.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        try (ZipFile jar = new ZipFile(new File(source.getLocation().toURI()))) {
            ZipEntry entry = jar.getEntry(resource.substring(1));
            return entry == null ? null : jar.getInputStream(entry).readAllBytes();
        } catch (IOException | URISyntaxException | IllegalArgumentException e) {
            // a directory, a jar inside of another one, or one that was replaced
            return null;
        }
    }

    private static void loadCopy(byte[] library) throws IOException {
        Path directory = createDirectory();
        Path copy = directory.resolve(LIBRARY);
        try {
            try (OutputStream file = new FileOutputStream(copy.toFile())) {
                file.write(library);
            }
            load(copy, LIBRARY);
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
     * Makes a directory that only the user can enter, with the least of the JDK: createTempDirectory would start all of its
     * security providers for a random name, and a file with permissions its channels.
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
                // another process's: no name is taken twice
                continue;
            }
        }
    }

    /** Takes a name for the path of the library in messages. */
    private static void load(Path library, String name) {
        String path = library.toAbsolutePath().toString();
        try {
            System.load(path);
        } catch (UnsatisfiedLinkError e) {
            String message = String.valueOf(e.getMessage()).replace(path, name);
            throw withCause(new UnsatisfiedLinkError(explain(message)), e);
        } catch (RuntimeException e) {
            // IllegalCallerException, which JDK 17 does not raise here: native access is denied
            throw withCause(
                    new UnsatisfiedLinkError(e.getMessage() + ": start Java with --enable-native-access="
                            + (Loader.class.getModule().isNamed()
                                    ? Loader.class.getModule().getName()
                                    : "ALL-UNNAMED")),
                    e);
        }
    }

    /** The shim's place in the jar, for a platform that has one. */
    public static String resource(String os, String arch) {
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
        return "/META-INF/native/" + directory + "/" + LIBRARY;
    }

    /** Adds the remedy to what the dynamic linker says. */
    static String explain(String message) {
        if (message.contains("librpma.so")) {
            return message
                    + "; librpma 1.2 or later is not installed: librpma0 on Debian and Ubuntu, librpma on Fedora";
        }
        if (message.contains("libibverbs.so")) {
            return message + "; rdma-core is not installed: libibverbs1 and ibverbs-providers on Debian and Ubuntu,"
                    + " libibverbs on Fedora and RHEL, libibverbs1 on openSUSE";
        }
        if (message.contains("librdmacm.so")) {
            return message + "; rdma-core is not installed: librdmacm1 on Debian and Ubuntu, librdmacm on Fedora and"
                    + " RHEL, librdmacm1 on openSUSE";
        }
        if (message.contains("failed to map segment") || message.contains("Operation not permitted")) {
            return message + "; " + temporaryDirectory() + " seems to be mounted noexec: name another directory with"
                    + " -Djava.io.tmpdir, or an unpacked library with -D" + LIBRARY_PROPERTY;
        }
        return message;
    }

    private static String temporaryDirectory() {
        return System.getProperty("java.io.tmpdir");
    }

    private static UnsatisfiedLinkError withCause(UnsatisfiedLinkError error, Throwable cause) {
        error.initCause(cause);
        return error;
    }
}
