// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Finds the reason why the library has found no device for an address: librpma's own text seldom names it. */
final class DeviceFault {
    private static final String DEVICES = "sys/class/infiniband";
    private static final String FILES = "dev/infiniband";

    /** The errors if nothing answers the question which hardware address belongs to an address. */
    private static final Set<String> SILENT = Set.of("ETIMEDOUT", "EHOSTUNREACH");

    /** The errors if no device has an address. */
    private static final Set<String> OF_NO_DEVICE = Set.of("", "ENODEV", "EADDRNOTAVAIL");

    private final Path root;
    private final Predicate<Path> accessible;

    /**
     * Finds the reason in a tree of files.
     *
     * @param root the root directory
     * @param accessible whether this process can read and write a file
     */
    DeviceFault(Path root, Predicate<Path> accessible) {
        this.root = root;
        this.accessible = accessible;
    }

    /** Finds the reason on this machine. */
    static DeviceFault ofThisMachine() {
        return new DeviceFault(Path.of("/"), path -> Files.isReadable(path) && Files.isWritable(path));
    }

    /** Reports that no device reaches another host. */
    IOException remote(String address, RpmaException failure) {
        return new IOException(
                ofMachine(address).orElseGet(() -> isSilent(failure) ? silent(address) : unreached(address, failure)),
                failure);
    }

    /** Reports that no device has an address on which a command is to listen. */
    IOException local(String address, RpmaException failure) {
        return new IOException(
                ofMachine(address)
                        .orElseGet(() -> OF_NO_DEVICE.contains(failure.errnoName())
                                ? "no RDMA device of this machine has the address " + address + ": '" + Product.NAME
                                        + " info' lists the addresses"
                                : address + ": " + Errors.line(failure)),
                failure);
    }

    /** Returns whether nothing has answered the question which hardware address belongs to an address. */
    static boolean isSilent(RpmaException failure) {
        return SILENT.contains(failure.errnoName());
    }

    private static String silent(String address) {
        return "no host answers at " + address + ": is it the address of the other host's RDMA device, and is that host"
                + " up? See '" + Product.NAME + " doctor " + address + "' here, and '" + Product.NAME
                + " info' on that host";
    }

    private static String unreached(String address, RpmaException failure) {
        return "no RDMA device of this machine reaches " + address + ": see '" + Product.NAME + " doctor " + address
                + "' (" + Device.reason(failure) + ")";
    }

    /** Returns the reason if the name is unknown, or the device or its files are missing or not accessible. */
    private Optional<String> ofMachine(String address) {
        if (!isKnown(address)) {
            return Optional.of("the host name " + address + " is unknown on this machine: see 'getent hosts " + address
                    + "', or name the address of the RDMA device");
        }
        return ofFiles();
    }

    private static boolean isKnown(String address) {
        try {
            InetAddress.getByName(address);
            return true;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private Optional<String> ofFiles() {
        String see = ": '" + Product.NAME + " doctor' shows the command that mends it";
        try {
            if (Files.exists(root.resolve("sys/class")) && isEmpty(root.resolve(DEVICES))) {
                return Optional.of("this machine has no RDMA device" + see);
            }
            Path manager = root.resolve(FILES).resolve("rdma_cm");
            if (Files.notExists(manager)) {
                return Optional.of("/" + root.relativize(manager) + " does not exist" + see);
            }
            try (DirectoryStream<Path> files = Files.newDirectoryStream(root.resolve(FILES), "{rdma_cm,uverbs*}")) {
                boolean hasDevice = false;
                for (Path file : files) {
                    hasDevice |= !file.equals(manager);
                    if (!accessible.test(file)) {
                        return Optional.of("no permission to read and write /" + root.relativize(file) + see);
                    }
                }
                if (!hasDevice) {
                    return Optional.of("/" + FILES + " has no file uverbs* of a device" + see);
                }
            }
        } catch (IOException e) {
            // the failure itself remains
        }
        return Optional.empty();
    }

    private static boolean isEmpty(Path directory) throws IOException {
        if (Files.notExists(directory)) {
            return true;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            return !files.iterator().hasNext();
        }
    }
}
