// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
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
        this(path, sysfs(path, (long) Files.getAttribute(path, "unix:rdev")));
    }

    /**
     * Reads the description of a device.
     *
     * @param path the character device
     * @param sysfs the directory of the device
     */
    DaxDevice(Path path, Path sysfs) throws IOException {
        try {
            size = Long.parseLong(Files.readString(sysfs.resolve("size")).strip());
            persistent = PersistentMemory.contains(sysfs);
        } catch (IOException | NumberFormatException e) {
            throw PersistentMemory.unreadable(path, sysfs, e);
        }
    }

    public static boolean isCharacterDevice(Path path) throws IOException {
        return Files.exists(path) && ((int) Files.getAttribute(path, "unix:mode") & FORMAT_MASK) == CHARACTER_DEVICE;
    }

    /** Returns the directory of a device. {@code device} is the number of stat(2). */
    static Path sysfs(Path path, long device) throws IOException {
        Path link = PersistentMemory.link("char", device);
        boolean isDax;
        Path sysfs;
        try {
            sysfs = link.toRealPath();
            isDax = sysfs.resolve("subsystem").toRealPath().endsWith("dax");
        } catch (IOException e) {
            throw PersistentMemory.unreadable(path, link, e);
        }
        if (!isDax) {
            throw new FileSystemException(
                    path.toString(), null, "is a character device, but no device DAX: see 'daxctl list'");
        }
        return sysfs;
    }

    /** Returns the size in bytes from sysfs, because a character device has no length. */
    public long size() {
        return size;
    }

    public boolean isPersistent() {
        return persistent;
    }
}
