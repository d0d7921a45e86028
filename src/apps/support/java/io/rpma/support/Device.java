// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPort;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An RDMA device.
 *
 * @param name such as {@code mlx5_0}
 * @param driver the name of the driver in the kernel; null if it is not known
 * @param limits the limits, by their names in {@code struct ibv_device_attr}
 */
public record Device(
        String name,
        String driver,
        int vendorId,
        int vendorPartId,
        String nodeGuid,
        String firmwareVersion,
        boolean nativeFlush,
        boolean nativeAtomicWrite,
        boolean onDemandPaging,
        boolean iwarp,
        boolean atomics,
        Map<String, Long> limits,
        List<Port> ports) {
    /** The drivers of devices in software, by their vendors: these devices have no driver in sysfs. */
    private static final Map<Integer, String> SOFTWARE = Map.of(0xffffff, "rdma_rxe", 0x626d74, "siw");

    /**
     * A port of a device.
     *
     * @param activeMtu in bytes; 0 if the device reports none
     * @param maxMessage in bytes
     * @param interfaces the names of the network interfaces
     */
    public record Port(
            int number,
            RpmaPort.State state,
            RpmaPort.LinkLayer linkLayer,
            int activeMtu,
            long maxMessage,
            List<String> interfaces,
            List<String> addresses) {
        static Port of(RpmaPort port) {
            return new Port(
                    port.number(),
                    port.state(),
                    port.linkLayer(),
                    port.activeMtu(),
                    port.maxMessage(),
                    port.interfaces(),
                    port.addresses().stream().map(InetAddress::getHostAddress).toList());
        }
    }

    /** Lists the devices of this machine. */
    public static List<Device> list() throws IOException {
        List<Device> devices = new ArrayList<>();
        for (RpmaDevice device : RpmaDevice.list()) {
            devices.add(of(device));
        }
        return devices;
    }

    /**
     * Returns librpma's reason why no device has or reaches an address. librpma shows an omitted address there as
     * {@code (null)}.
     */
    public static String reason(RpmaException failure) {
        return failure.detail().replaceAll("\\w+=\\(null\\)(, )?", "");
    }

    private static Device of(RpmaDevice device) throws IOException {
        return new Device(
                device.name(),
                driver(device),
                device.vendorId(),
                device.vendorPartId(),
                device.nodeGuid(),
                device.firmwareVersion(),
                device.isFlushNative(),
                device.isAtomicWriteNative(),
                device.isOdpCapable(),
                device.isIwarp(),
                device.isAtomicCapable(),
                device.limits(),
                device.ports().stream().map(Port::of).toList());
    }

    private static String driver(RpmaDevice device) throws IOException {
        Path link = Path.of("/sys/class/infiniband", device.name(), "device", "driver");
        if (Files.exists(link)) {
            return link.toRealPath().getFileName().toString();
        }
        return SOFTWARE.get(device.vendorId());
    }

    /** Returns the addresses of all ports. */
    public List<String> addresses() {
        return ports.stream().flatMap(port -> port.addresses.stream()).toList();
    }
}
