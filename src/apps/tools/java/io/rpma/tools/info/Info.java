// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.info;

import io.rpma.RpmaPort;
import io.rpma.support.Device;
import io.rpma.support.Json;
import io.rpma.support.Page;
import io.rpma.support.Product;
import io.rpma.support.Versions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints the devices and the versions. */
@Command(
        name = "info",
        description = "Show the RDMA devices with their capabilities, and the versions of the software.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:there is a device", "1:there is none, or it can't be queried", "2:wrong command line"})
public final class Info implements Callable<Integer> {
    private static final String UNKNOWN = "unknown";

    @Option(names = "--json", description = "Print JSON, whose names remain the same in later versions.")
    private boolean json;

    private final Page page = new Page(System.out);

    /** The machine, as in JSON. */
    record Machine(Versions versions, List<Device> devices) {}

    @Override
    public Integer call() throws Exception {
        List<Device> devices = Device.list();
        Machine machine = new Machine(Versions.find(), devices);
        if (json) {
            System.out.println(Json.of(machine));
        } else {
            print(machine);
        }
        if (devices.isEmpty()) {
            System.err.println(Product.NAME + " info: there is no RDMA device; see '" + Product.NAME
                    + " doctor', or run a" + " command on soft-RoCE with '" + Product.NAME + " rxe run CMD'");
        }
        return devices.isEmpty() ? 1 : 0;
    }

    private void print(Machine machine) {
        machine.versions.rows().forEach(this::row);
        machine.devices.forEach(this::print);
    }

    private void row(String name, String text) {
        page.row(String.format(Locale.ROOT, "%-18s", name), text);
    }

    private void print(Device device) {
        page.heading(device.name());
        row("driver", Versions.known(device.driver()));
        row(
                "vendor",
                String.format(
                        Locale.ROOT,
                        "0x%x, part %d, firmware %s",
                        device.vendorId(),
                        device.vendorPartId(),
                        device.firmwareVersion().isEmpty() ? UNKNOWN : device.firmwareVersion()));
        row("node GUID", device.nodeGuid());
        row("transport", device.iwarp() ? "iWARP" : "InfiniBand or RoCE");
        row("flush", device.nativeFlush() ? "native" : "emulated by reads");
        row("atomic write", device.nativeAtomicWrite() ? "native" : "emulated by writes of 8 bytes");
        row("atomic operations", device.atomics() ? "yes" : "no");
        row("on-demand paging", device.onDemandPaging() ? "yes" : "no");
        device.ports().forEach(port -> row("port " + port.number(), text(port)));
        row("limits", text(device.limits()));
    }

    private static String text(Device.Port port) {
        String state = Page.paint(port.state() == RpmaPort.State.ACTIVE ? "green" : "yellow", port.state() + "");
        return String.format(
                Locale.ROOT,
                "%s, %s, MTU %d, %s, %s",
                state,
                name(port.linkLayer()),
                port.activeMtu(),
                port.interfaces().isEmpty() ? "no interface" : String.join(", ", port.interfaces()),
                port.addresses().isEmpty() ? "no address" : String.join(", ", port.addresses()));
    }

    private static String name(RpmaPort.LinkLayer layer) {
        return switch (layer) {
            case INFINIBAND -> "InfiniBand";
            case ETHERNET -> "Ethernet";
            default -> layer.toString();
        };
    }

    private static String text(Map<String, Long> limits) {
        return limits.entrySet().stream()
                .map(limit -> limit.getKey() + "=" + limit.getValue())
                .collect(Collectors.joining(" "));
    }
}
