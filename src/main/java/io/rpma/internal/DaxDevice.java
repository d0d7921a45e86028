package io.rpma.internal;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A device DAX: a character device, which sysfs describes. */
public final class DaxDevice {
    private static final int FORMAT_MASK = 0170000;
    private static final int CHARACTER_DEVICE = 0020000;

    private final long size;
    private final boolean persistent;

    /**
     * Reads the description of a device.
     *
     * @param path the character device
     * @throws IOException if the character device is not a device DAX
     */
    public DaxDevice(Path path) throws IOException {
        Path sysfs = sysfs(path);
        size = Long.parseLong(Files.readString(sysfs.resolve("size")).strip());
        persistent = PersistentMemory.contains(sysfs);
    }

    public static boolean isCharacterDevice(Path path) throws IOException {
        return Files.exists(path) && ((int) Files.getAttribute(path, "unix:mode") & FORMAT_MASK) == CHARACTER_DEVICE;
    }

    private static Path sysfs(Path path) throws IOException {
        try {
            Path sysfs = PersistentMemory.sysfs("char", (long) Files.getAttribute(path, "unix:rdev"));
            if (sysfs.resolve("subsystem").toRealPath().endsWith("dax")) {
                return sysfs;
            }
        } catch (NoSuchFileException e) {
            throw (IOException) new FileSystemException(path.toString(), null, "is no device DAX").initCause(e);
        }
        throw new FileSystemException(path.toString(), null, "is a character device, but no device DAX");
    }

    /** Returns the size in bytes from sysfs, because a character device has no length. */
    public long size() {
        return size;
    }

    public boolean isPersistent() {
        return persistent;
    }
}
