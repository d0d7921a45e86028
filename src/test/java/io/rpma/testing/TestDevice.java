// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPort;
import io.rpma.internal.Check;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** The RDMA device that the tests run on, found at run time. */
public final class TestDevice {
    /** The name of the lock for tests that need exclusive use of the persistent memory. */
    public static final String PMEM = "persistent memory";

    private static final AtomicInteger PORT = new AtomicInteger(Integer.getInteger("rpma.port", 20000));
    private static final String ADDRESS = find();
    private static final String PMEM_PATH = System.getProperty("rpma.pmem", System.getenv("RPMA_PMEM"));

    private TestDevice() {}

    /** The device's address; without a device the calling test is skipped, or fails if a device is required. */
    public static String address() {
        if (ADDRESS == null) {
            missing("no RDMA device found: set -Drpma.address, or use 'native/rxe test'");
        }
        return ADDRESS;
    }

    /**
     * An address in the device's network that no host has, so that its resolution times out. In a network that {@code
     * native/rxe} did not make, the property {@code rpma.silent.address} may have to be set.
     */
    public static String silentAddress() {
        return System.getProperty("rpma.silent.address", address().replaceAll("\\d+$", "253"));
    }

    /** Whether the device is soft-RoCE or another device without hardware. */
    public static boolean isSoft() {
        Path device =
                Path.of("/sys/class/infiniband", RpmaDevice.local(address()).name());
        return Files.notExists(device.resolve("device"));
    }

    /** The maximum number of bytes of an operation: soft-RoCE of Linux 6.1 has a lower one than the library. */
    public static int maxMessage() {
        return (int) RpmaDevice.local(address()).ports().stream()
                .mapToLong(RpmaPort::maxMessage)
                .reduce(Integer.MAX_VALUE, Math::min);
    }

    /** The message of the exception for an operation that is longer. */
    public static String tooLong(long length) {
        return Check.tooLong(length, maxMessage()).getMessage();
    }

    /** The device DAX; without one, the calling test is skipped or fails as in {@link #address()}. */
    public static Path pmem() {
        if (!hasPmem()) {
            missing("no device DAX: set -Drpma.pmem, or use 'native/rxe test'");
        }
        return Path.of(PMEM_PATH);
    }

    /** Memory for the server of an example: the device DAX or, on a machine without one, a new file in tmpfs. */
    public static Path pmemOrTmpfs() throws IOException {
        return hasPmem() ? pmem() : Files.createTempFile(Path.of("/dev/shm"), "memory", null);
    }

    /** Deletes the result of {@link #pmemOrTmpfs}, if it is a file in tmpfs. */
    public static void delete(Path pmemOrTmpfs) throws IOException {
        if (!hasPmem()) {
            Files.delete(pmemOrTmpfs);
        }
    }

    private static boolean hasPmem() {
        return PMEM_PATH != null && !PMEM_PATH.isEmpty();
    }

    private static void missing(String reason) {
        if (Boolean.getBoolean("rpma.device.required")) {
            fail(reason);
        }
        abort(reason);
    }

    /** A port that no other test of this JVM uses. */
    public static int port() {
        return ports(1);
    }

    /** The first of {@code count} ports that no other test of this JVM uses. */
    public static int ports(int count) {
        return PORT.getAndAdd(count);
    }

    /** The VM option that gives another JVM {@code count} ports, which no test of this JVM uses. */
    public static String portsOption(int count) {
        return "-Drpma.port=" + ports(count);
    }

    /** A new peer on the device. */
    public static RpmaPeer peer() {
        return RpmaPeer.create(RpmaDevice.local(address()));
    }

    /** Whether the kernel has this version or a later one, for expectations that depend on the kernel. */
    public static boolean kernelIsAtLeast(int major, int minor) {
        String[] version = System.getProperty("os.version").split("\\D+");
        int runningMajor = Integer.parseInt(version[0]);
        return runningMajor > major || (runningMajor == major && Integer.parseInt(version[1]) >= minor);
    }

    private static String find() {
        String configured = System.getProperty("rpma.address", System.getenv("RPMA_ADDRESS"));
        if (configured != null && !configured.isEmpty()) {
            return configured;
        }
        return RpmaDevice.list().stream()
                .flatMap(device -> device.addresses().stream())
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                .map(InetAddress::getHostAddress)
                .findFirst()
                .orElse(null);
    }
}
