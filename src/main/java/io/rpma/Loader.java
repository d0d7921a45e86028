package io.rpma;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** Finds and loads the shim, and says what to do when that fails. */
final class Loader {
    /** A path to the shim; when set, nothing else is tried. */
    static final String LIBRARY_PROPERTY = "io.rpma.library";

    /** Set in the JVM by the class loader that has loaded the shim. */
    private static final String CLAIM_PROPERTY = "io.rpma.claim";

    private static final String LIBRARY = "librpma-java.so";

    private Loader() {}

    /**
     * Loads the shim.
     *
     * @throws UnsatisfiedLinkError if that fails; its message names the remedy
     */
    static void load() {
        claim();
        boolean loaded = false;
        try {
            String path = System.getProperty(LIBRARY_PROPERTY);
            if (path != null) {
                loadNamed(path);
            } else {
                loadPackaged();
            }
            loaded = true;
        } finally {
            if (!loaded) {
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
        load(library);
    }

    private static void loadPackaged() {
        String resource = resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        try (InputStream library = Loader.class.getResourceAsStream(resource)) {
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

    private static void loadCopy(InputStream library) throws IOException {
        Path copy = createCopy();
        try {
            try (OutputStream file = Files.newOutputStream(copy)) {
                library.transferTo(file);
            }
            load(copy);
        } finally {
            delete(copy);
        }
    }

    private static void delete(Path copy) {
        try {
            Files.delete(copy);
        } catch (IOException e) {
            Log.logger().log(System.Logger.Level.WARNING, "can't delete " + copy, e);
        }
    }

    /** Not by createTempFile, which starts all of the JDK's security providers for a random name: a third of the loading. */
    private static Path createCopy() throws IOException {
        Path directory = Path.of(temporaryDirectory());
        Set<PosixFilePermission> ownersAlone =
                EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        while (true) {
            Path copy = directory.resolve("rpma-java-" + System.nanoTime() + ".so");
            try {
                return Files.createFile(copy, PosixFilePermissions.asFileAttribute(ownersAlone));
            } catch (FileAlreadyExistsException e) {
                // another process's: no name is taken twice
                continue;
            }
        }
    }

    private static void load(Path library) {
        try {
            System.load(library.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            throw withCause(new UnsatisfiedLinkError(explain(String.valueOf(e.getMessage()))), e);
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
    static String resource(String os, String arch) {
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
