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
import java.nio.file.InvalidPathException;
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

/** Finds and loads the shim, and librpma with it. If that fails, the error names the remedy. */
public final class Loader {
    /** The system property with the path of the shim. If it is set, the loader unpacks nothing. */
    public static final String LIBRARY_PROPERTY = "io.rpma.library";

    /**
     * The system property that chooses librpma: {@code bundled} is the one of the jar, {@code system} the one that the
     * dynamic linker finds, and any other value is its path. Without it, the one of the jar is used if the dynamic
     * linker finds none that has the functions of librpma 1.2.
     */
    public static final String LIBRPMA_PROPERTY = "io.rpma.librpma";

    /**
     * The system property with the name of the class loader that has loaded the shim. The claim is in the shim: a test
     * framework can restore the properties. The property spares later class loaders a copy of the shim, which would stay
     * in the process. A build tool that moves the classes to another package also replaces the package in strings, but
     * not in this one, so that all copies of the library share it.
     */
    private static final String CLAIM_PROPERTY = "rpma-java.claim";

    /** The system property from which the shim takes the name of the class of its natives. */
    private static final String NATIVES_PROPERTY = "rpma-java.natives";

    private static final String TMPDIR_PROPERTY = "java.io.tmpdir";

    private static final String BUNDLED = "bundled";

    private static final String SYSTEM = "system";

    private static final String LIBRARY = "librpma-java.so";

    private static final String LIBRPMA = "librpma.so.0";

    private static final String REMEDY =
            "rpma-java needs librpma 1.2 or later: librpma0 on Debian and Ubuntu, librpma on Fedora, or the one of a jar that was"
                    + " built with it";

    private static final String C_LIBRARY =
            "; rpma-java needs glibc 2.34 or later, for example of Debian 12, and does not support musl";

    /**
     * The number of native methods: a shim without one of them would fail only when the method is called. Counting them
     * by reflection would need metadata in a native image.
     */
    static final int NATIVES = 170;

    private static final String OTHER_LIBRARY = "this is not the native library of this release of rpma-java: omit -D"
            + LIBRARY_PROPERTY + ", or name the library that was built with this jar";

    private static volatile boolean loaded;

    /**
     * The directory of the last attempt, or null. If the shim fails after the dynamic linker has loaded it, it stays
     * loaded, and the next attempt must find it under the same path: librpma calls the functions of its guard. If the
     * directory can't be made, the next attempt fails with the same message.
     */
    private static Path unpacked;

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
        ClassLoader loader = Loader.class.getClassLoader();
        String name = loader == null || loader.getName() == null ? String.valueOf(loader) : loader.getName();
        Object owner = System.getProperties().putIfAbsent(CLAIM_PROPERTY, name);
        if (owner == null) {
            owner = loadAndClaim(name);
        }
        if (owner != null) {
            throw new UnsatisfiedLinkError(alreadyLoaded("the class loader " + owner));
        }
    }

    /**
     * Loads the shim and claims librpma for this class loader. librpma has one log function for the whole process,
     * which a second copy of the shim would replace.
     *
     * @return the class loader that has claimed librpma before, or null
     */
    private static String loadAndClaim(String name) {
        boolean done = false;
        try {
            String path = System.getProperty(LIBRARY_PROPERTY);
            if (path != null) {
                loadNamed(path);
            } else {
                loadPackaged();
            }
            byte[] other = Natives.logClaim(name.getBytes(StandardCharsets.UTF_8));
            String owner = other == null ? null : new String(other, StandardCharsets.UTF_8);
            if (owner != null) {
                System.setProperty(CLAIM_PROPERTY, owner);
            }
            done = true;
            return owner;
        } finally {
            if (!done) {
                System.clearProperty(CLAIM_PROPERTY);
            }
        }
    }

    private static String alreadyLoaded(String owner) {
        return "rpma-java was already loaded in this JVM by " + owner
                + ", and librpma serves only one copy until the JVM ends: put one rpma-java jar where all users share it,"
                + " for example into the server's common library directory";
    }

    private static void loadNamed(String path) {
        Path library = readable(LIBRARY_PROPERTY, path);
        String choice = choice();
        if (choice != null && !choice.equals(SYSTEM)) {
            throw new UnsatisfiedLinkError("-D" + LIBRPMA_PROPERTY + " needs the shim of the jar: omit -D"
                    + LIBRARY_PROPERTY + ", or put " + LIBRPMA + " next to the shim that it names");
        }
        load(library, library.toAbsolutePath().toString());
        checkNatives(library);
    }

    /** Checks that a library that the user names has the natives of these classes, and no others. */
    private static void checkNatives(Path library) {
        int natives;
        try {
            natives = Natives.nativeCount();
        } catch (UnsatisfiedLinkError e) {
            throw withCause(new UnsatisfiedLinkError(library + ": " + OTHER_LIBRARY), e);
        }
        if (natives != NATIVES) {
            throw new UnsatisfiedLinkError(library + ": " + OTHER_LIBRARY);
        }
    }

    private static Path readable(String property, String path) {
        Path file = path(property, path);
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new UnsatisfiedLinkError("-D" + property + "=" + path + " names no file that can be read");
        }
        return file;
    }

    /** Returns the path that a property names. The JDK can name a file only if the locale has the letters of the name. */
    private static Path path(String property, String path) {
        try {
            return Path.of(path);
        } catch (InvalidPathException e) {
            throw withCause(
                    new UnsatisfiedLinkError("-D" + property + " has letters that the locale of this process lacks ("
                            + e.getMessage() + "): start Java in a locale with UTF-8, for example with LC_ALL=C.UTF-8"),
                    e);
        }
    }

    private static void loadPackaged() {
        String resources = directory(System.getProperty("os.name"), System.getProperty("os.arch"));
        try {
            Path directory = createDirectory();
            Path shim = directory.resolve(LIBRARY);
            Path librpma = directory.resolve(LIBRPMA);
            try {
                unpack(resources, shim);
                loadWithLibrpma(resources, shim, librpma);
            } finally {
                delete(shim);
                delete(librpma);
                delete(directory);
            }
        } catch (IOException e) {
            throw withCause(
                    new UnsatisfiedLinkError("can't unpack the library into " + temporaryDirectory() + " (" + e
                            + "): name another directory with -Djava.io.tmpdir, or an unpacked library with -D"
                            + LIBRARY_PROPERTY),
                    e);
        }
    }

    /**
     * Loads the shim, and with it librpma: the dynamic linker looks for the libraries that the shim needs in the
     * directory of the shim first. So librpma finds the shim before it, and calls the functions of guard.c.
     */
    private static void loadWithLibrpma(String resources, Path shim, Path librpma) throws IOException {
        String choice = choice();
        if (choice == null) {
            loadWithAny(resources, shim, librpma);
        } else if (choice.equals(SYSTEM)) {
            load(shim, LIBRARY);
        } else if (choice.equals(BUNDLED)) {
            unpack(resources, librpma);
            load(shim, LIBRARY);
        } else {
            Path chosen = readable(LIBRPMA_PROPERTY, choice).toRealPath();
            Files.createSymbolicLink(librpma, chosen);
            loadWithChosen(shim, librpma, chosen);
        }
    }

    /** Returns the value of the property, or null if it is not set or empty. */
    private static String choice() {
        String choice = System.getProperty(LIBRPMA_PROPERTY, "");
        return choice.isEmpty() ? null : choice;
    }

    /** Messages have the path that the user has chosen. */
    private static void loadWithChosen(Path shim, Path librpma, Path chosen) {
        try {
            load(shim, LIBRARY);
        } catch (UnsatisfiedLinkError e) {
            throw withCause(new UnsatisfiedLinkError(e.getMessage().replace(librpma.toString(), chosen.toString())), e);
        }
    }

    private static void loadWithAny(String resources, Path shim, Path librpma) throws IOException {
        try {
            load(shim, LIBRARY);
        } catch (UnsatisfiedLinkError e) {
            // a lack of descriptors or memory is temporary
            boolean lacksLibrpma = e.getMessage().contains(REMEDY)
                    && !e.getMessage().contains("Too many open files")
                    && !e.getMessage().contains("Cannot allocate memory");
            if (!lacksLibrpma || read(resources + LIBRPMA) == null) {
                throw e;
            }
            unpack(resources, librpma);
            load(shim, LIBRARY);
        }
    }

    /** Returns the bytes of a resource, or null if it does not exist. */
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
     * Returns the bytes of a resource, or null if this class is not from an ordinary jar file that has the resource.
     * Reads the jar itself, because the class loader would first open the JDK's resources, which takes longer than the
     * rest of the loading.
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
            // the class is from a directory, a nested jar, or a jar that was replaced
            return null;
        }
    }

    /** Writes a library of the jar to a file of the same name. */
    private static void unpack(String resources, Path file) throws IOException {
        String resource = resources + file.getFileName();
        byte[] library = read(resource);
        if (library == null) {
            throw new UnsatisfiedLinkError(resource + " is not in the jar: "
                    + (file.endsWith(LIBRPMA)
                            ? "rpma-java was built without librpma; " + REMEDY
                            : "this build of rpma-java has no library for this platform; build it there and name the result"
                                    + " with -D" + LIBRARY_PROPERTY));
        }
        try (OutputStream stream = new FileOutputStream(file.toFile())) {
            stream.write(library);
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
        // the JDK and the dynamic linker use the path without symbolic links
        Path real = path(TMPDIR_PROPERTY, temporaryDirectory()).toRealPath();
        Path parent = path(TMPDIR_PROPERTY, real.toString());
        Set<PosixFilePermission> ownersAlone = Set.of(
                PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);
        while (true) {
            Path directory = unpacked != null && parent.equals(unpacked.getParent())
                    ? unpacked
                    : parent.resolve("rpma-java-" + System.nanoTime());
            unpacked = directory;
            try {
                return Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(ownersAlone));
            } catch (FileAlreadyExistsException e) {
                // another process uses this name: the next attempt has a new one
                unpacked = null;
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
            throw withCause(new UnsatisfiedLinkError(isNoexec(library) ? noexec(message) : explain(message)), e);
        } catch (LinkageError e) {
            // a shim registers the methods of its own release
            throw withCause(new UnsatisfiedLinkError(name + ": " + OTHER_LIBRARY), e);
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

    /** Looks at the mount itself, because the message of the dynamic linker depends on the locale. */
    private static boolean isNoexec(Path library) {
        File file = library.toFile();
        return unpacked != null
                && unpacked.equals(library.getParent())
                && file.setExecutable(true)
                && !file.canExecute();
    }

    private static String noexec(String message) {
        return message + "; " + temporaryDirectory() + " seems to be mounted noexec: name another directory with"
                + " -Djava.io.tmpdir, or an unpacked library with -D" + LIBRARY_PROPERTY;
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
        // the messages of musl's dynamic linker, and of glibc's about a library for musl
        if (message.matches("(?s)Error (loading|relocating) .*|.*libc\\.musl.*")) {
            return message + C_LIBRARY;
        }
        Matcher old =
                Pattern.compile("(/\\S*librpma\\.so\\S*): version `LIBRPMA_").matcher(message);
        if (old.find()) {
            return message + "; " + old.group(1) + " is librpma" + versionOf(Path.of(old.group(1))) + ". " + REMEDY;
        }
        if (message.contains("undefined symbol: rpma_")) {
            return message + "; the librpma that was found lacks this function. " + REMEDY
                    + "; LD_LIBRARY_PATH and 'ldconfig -p' name the librpma that is found";
        }
        if (message.matches("(?s).*required by \\S*librpma\\.so.*")) {
            return message + "; this librpma needs a newer rdma-core or a newer C library. " + REMEDY;
        }
        if (message.contains("/librpma.so")) {
            return message + "; this librpma is damaged, or is for another platform. " + REMEDY;
        }
        if (message.contains("librpma.so")) {
            return message + "; librpma is not installed. " + REMEDY;
        }
        if (message.contains("version `GLIBC_")) {
            return message + C_LIBRARY;
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
        if (message.contains("already loaded in another classloader")) {
            return alreadyLoaded("another class loader");
        }
        if (message.contains("failed to map segment") || message.contains("Operation not permitted")) {
            return noexec(message);
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
        return System.getProperty(TMPDIR_PROPERTY);
    }

    private static UnsatisfiedLinkError withCause(UnsatisfiedLinkError error, Throwable cause) {
        error.initCause(cause);
        return error;
    }
}
