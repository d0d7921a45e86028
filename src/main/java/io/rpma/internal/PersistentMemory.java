// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;

/** Regions of persistent memory, which sysfs describes. */
public final class PersistentMemory {
    /**
     * A store is safe after it has left the processor's caches (memory_controller), or already in the caches
     * (cpu_cache).
     */
    private static final Set<String> SAFE_DOMAINS = Set.of("memory_controller", "cpu_cache");

    private PersistentMemory() {}

    /**
     * Returns whether the block device of a file system is in regions of persistent memory. The kernel maps files with
     * {@code MAP_SYNC} on volatile regions too.
     *
     * @param path a file of the file system
     */
    public static boolean containsFile(Path path) throws IOException {
        Path link = link("block", (long) Files.getAttribute(path, "unix:dev"));
        try {
            return contains(link.toRealPath());
        } catch (NoSuchFileException e) {
            return false; // the file system has no block device of its own, for example Btrfs
        } catch (IOException e) {
            throw unreadable(path, link, e);
        }
    }

    /**
     * Returns the link to the directory of a device. {@code type} is block or char, {@code device} the number of
     * stat(2).
     */
    static Path link(String type, long device) {
        long major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >> 12 & ~0xffL);
        return Path.of("/sys/dev/" + type + "/" + major + ":" + minor);
    }

    /**
     * The failure for a device that sysfs does not describe.
     *
     * @param path the device, or a file on it
     * @param sysfs the directory of the device
     */
    static FileSystemException unreadable(Path path, Path sysfs, Exception cause) {
        FileSystemException failure = new FileSystemException(
                path.toString(), null, "its description " + sysfs + " can't be read: " + cause + "; " + Hint.ofSysfs());
        failure.initCause(cause);
        return failure;
    }

    /**
     * Returns whether the device is in regions of persistent memory for which the platform reports a persistence
     * domain. The existence of a device proves nothing: volatile memory can be a device too, even on the bus of
     * NVDIMMs. virtio-pmem has no persistence domain, because the host must execute each flush.
     *
     * @param sysfs the directory of the device. It is below the directory of the region. The directory of a logical
     *     volume is not; its subdirectory {@code slaves} has links to the devices of the volume
     */
    static boolean contains(Path sysfs) throws IOException {
        for (Path directory = sysfs; directory.getParent() != null; directory = directory.getParent()) {
            Path bus = directory.getParent().getFileName();
            if (bus != null && bus.toString().startsWith("ndbus")) {
                return attribute(directory, "devtype").equals("nd_pmem")
                        && SAFE_DOMAINS.contains(attribute(directory, "persistence_domain"));
            }
        }
        return containsParts(sysfs.resolve("slaves"));
    }

    /** Returns whether all devices of a logical volume are in regions of persistent memory. */
    private static boolean containsParts(Path parts) throws IOException {
        if (!Files.isDirectory(parts)) {
            return false;
        }
        boolean hasParts = false;
        try (DirectoryStream<Path> links = Files.newDirectoryStream(parts)) {
            for (Path link : links) {
                hasParts = true;
                if (!contains(link.toRealPath())) {
                    return false;
                }
            }
        }
        return hasParts;
    }

    /** Returns the value of an attribute, or an empty string if the kernel does not have the attribute. */
    private static String attribute(Path directory, String name) throws IOException {
        Path file = directory.resolve(name);
        return Files.exists(file) ? Files.readString(file).strip() : "";
    }
}
