package io.rpma.internal;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;

/** A device DAX: a character device, which sysfs describes. */
public final class DaxDevice {
    private static final int FORMAT_MASK = 0170000;
    private static final int CHARACTER_DEVICE = 0020000;

    /** The persistence domains in which a store is safe after it has left the processor's caches, or already in the caches. */
    private static final Set<String> SAFE_DOMAINS = Set.of("memory_controller", "cpu_cache");

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
        persistent = isPersistent(sysfs);
    }

    public static boolean isCharacterDevice(Path path) throws IOException {
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

    /**
     * Returns whether the device belongs to a region of persistent memory for which the platform reports a persistence domain.
     * Volatile memory can also be a device DAX, even on the bus of NVDIMMs. virtio-pmem has no persistence domain, because the
     * host must execute each flush.
     *
     * @param sysfs the directory of the device, below the directory of its region
     */
    static boolean isPersistent(Path sysfs) throws IOException {
        for (Path directory = sysfs; directory.getParent() != null; directory = directory.getParent()) {
            Path bus = directory.getParent().getFileName();
            if (bus != null && bus.toString().startsWith("ndbus")) {
                return attribute(directory, "devtype").equals("nd_pmem")
                        && SAFE_DOMAINS.contains(attribute(directory, "persistence_domain"));
            }
        }
        return false;
    }

    /** Returns the value of an attribute, or an empty string if the kernel does not have the attribute. */
    private static String attribute(Path directory, String name) throws IOException {
        Path file = directory.resolve(name);
        return Files.exists(file) ? Files.readString(file).strip() : "";
    }

    /** Returns the size in bytes from sysfs, because a character device has no length. */
    public long size() {
        return size;
    }

    public boolean isPersistent() {
        return persistent;
    }
}
