package io.rpma;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A device DAX: a character device, of which the kernel tells more in sysfs. */
final class DaxDevice {
    private static final int FORMAT_MASK = 0170000;
    private static final int CHARACTER_DEVICE = 0020000;

    private final long size;
    private final boolean persistent;

    /**
     * @throws IOException if the path is of another kind of character device
     */
    DaxDevice(Path path) throws IOException {
        Path sysfs = sysfs(path);
        size = Long.parseLong(Files.readString(sysfs.resolve("size")).strip());
        persistent = isOnNvdimmBus(sysfs);
    }

    static boolean isCharacterDevice(Path path) throws IOException {
        return Files.exists(path) && ((int) Files.getAttribute(path, "unix:mode") & FORMAT_MASK) == CHARACTER_DEVICE;
    }

    private static Path sysfs(Path path) throws IOException {
        long device = (long) Files.getAttribute(path, "unix:rdev");
        long major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >> 12 & ~0xffL);
        try {
            Path sysfs = Path.of("/sys/dev/char/" + major + ":" + minor).toRealPath();
            if (sysfs.resolve("subsystem").toRealPath().endsWith("dax")) {
                return sysfs;
            }
        } catch (NoSuchFileException e) {
            throw (IOException) new FileSystemException(path.toString(), null, "is no device DAX").initCause(e);
        }
        throw new FileSystemException(path.toString(), null, "is a character device, but no device DAX");
    }

    /** Volatile memory of a high-bandwidth or CXL kind can be a device DAX too, on another bus. */
    private static boolean isOnNvdimmBus(Path sysfs) {
        for (Path part : sysfs) {
            if (part.toString().startsWith("ndbus")) {
                return true;
            }
        }
        return false;
    }

    /** The size in bytes: a character device has no length of its own. */
    long size() {
        return size;
    }

    boolean isPersistent() {
        return persistent;
    }
}
