// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPort;
import io.rpma.support.Device;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Errors;
import io.rpma.support.Versions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The checks that use the library. */
final class DeviceChecks {
    /** Shows which librpma and rdma-core are found, of several or of an unexpected version. */
    private static final String SHOW_LIBRARIES = "find / -name 'librpma.so*' -o -name 'libibverbs.so*'";

    private DeviceChecks() {}

    /** Checks the library, all devices, and an address if it is not null. */
    static List<Finding> all(String address) throws IOException, InterruptedException {
        List<Finding> findings = new ArrayList<>();
        List<Device> devices = List.of();
        try {
            devices = Device.list();
            findings.add(
                    library(Versions.find(), devices, HostChecks.ofThisMachine().devices()));
        } catch (LinkageError e) {
            String reason = Errors.line(e);
            findings.add(Finding.missing("library", reason, libraryRemedy(reason, installation())));
        } catch (RpmaException e) {
            String reason = Errors.line(e);
            findings.add(Finding.missing("library", reason, cgroupRemedy(reason).orElse("ls -l /dev/infiniband")));
        }
        findings.add(nativeAccess(Runtime.version().feature()));
        findings.addAll(anyUsable(devices.stream().map(DeviceChecks::device).toList()));
        if (address != null && !devices.isEmpty()) {
            findings.add(deviceOf(address));
        }
        return findings;
    }

    /** Returns the command that shows the limits of the cgroup, if a failure names their file. */
    static Optional<String> cgroupRemedy(String reason) {
        Matcher file = Pattern.compile("/sys/fs/cgroup/\\S*rdma\\.max").matcher(reason);
        return file.find() ? Optional.of("cat " + file.group()) : Optional.empty();
    }

    private static List<Finding> device(Device device) {
        List<Finding> findings = new ArrayList<>(List.of(port(device), address(device)));
        if (!device.addresses().isEmpty()) {
            findings.add(connection(device.name(), device.addresses().get(0)));
        }
        return findings;
    }

    /** Joins the findings of all devices. If a program can use one device, the others are not required. */
    static List<Finding> anyUsable(List<List<Finding>> devices) {
        boolean usable = devices.stream()
                .anyMatch(device -> device.stream().noneMatch(finding -> finding.state() == Finding.State.MISSING));
        return devices.stream()
                .flatMap(List::stream)
                .map(finding -> usable ? finding.notRequired() : finding)
                .toList();
    }

    /**
     * Reports whether the library finds devices.
     *
     * @param inSysfs the finding about the devices in sysfs
     */
    static Finding library(Versions versions, List<Device> devices, Finding inSysfs) {
        if (devices.isEmpty() && inSysfs.state() == Finding.State.OK) {
            return Finding.missing(
                    "library",
                    "it finds none of " + inSysfs.detail() + ": they belong to another network namespace, unless 'rdma"
                            + " dev' shows them; then their provider, a part of rdma-core, is not installed",
                    HostChecks.OTHER_NAMESPACE);
        }
        if (devices.isEmpty() && inSysfs.state() == Finding.State.WARNING) {
            return Finding.missing("library", "it finds no device", inSysfs.remedy());
        }
        return Finding.ok("library", "librpma " + versions.librpma() + ", rdma-core " + versions.rdmaCore());
    }

    private static String installation() {
        return HostChecks.installation(Path.of("/"));
    }

    /**
     * Returns the command for a library that can't be loaded; empty if none is known.
     *
     * @param reason the message of the failure, which identifies the cause
     * @param installation the command that installs the packages
     */
    static String libraryRemedy(String reason, String installation) {
        if (reason.contains("LC_ALL=C.UTF-8")) {
            return "LC_ALL=C.UTF-8 java -jar ...";
        }
        if (reason.contains("-Djava.io.tmpdir")) {
            return "java -Djava.io.tmpdir=DIRECTORY -jar ...";
        }
        if (reason.contains("undefined symbol: rpma_") || reason.contains("version `LIBRPMA_")) {
            return SHOW_LIBRARIES;
        }
        boolean lacksPackage =
                Stream.of("librpma.so", "libibverbs.so", "librdmacm.so").anyMatch(reason::contains);
        return lacksPackage ? installation : "";
    }

    /** Since JDK 24 a program without the option gets warnings. The tools have it in their jar. */
    static Finding nativeAccess(int java) {
        return java < 24
                ? Finding.ok("native access", "Java " + java + " permits it")
                : Finding.ok(
                        "native access", "Java " + java + ": start programs with --enable-native-access=ALL-UNNAMED");
    }

    static Finding port(Device device) {
        String subject = device.name() + " port";
        for (Device.Port port : device.ports()) {
            if (port.state() == RpmaPort.State.ACTIVE) {
                return Finding.ok(subject, "port " + port.number() + " is active");
            }
        }
        String state = device.ports().stream()
                .map(port -> port.state().toString())
                .reduce((one, other) -> one + ", " + other)
                .orElse("none");
        return Finding.missing(
                subject, "no port is active: " + state, "sudo ip link set " + networkInterface(device) + " up");
    }

    static Finding address(Device device) {
        String subject = device.name() + " address";
        if (device.nodeGuid().equals("0000:0000:0000:0000")) {
            return Finding.missing(
                    subject,
                    "the node GUID is 0, so that librdmacm does not know the device",
                    "sudo ip link set PARENT vf NUMBER node_guid GUID");
        }
        boolean hasInterface =
                device.ports().stream().anyMatch(port -> !port.interfaces().isEmpty());
        if (device.addresses().isEmpty() && !hasInterface) {
            return Finding.missing(
                    subject,
                    "the device has no network interface in this network namespace, and so no address",
                    "sudo ip link set INTERFACE netns NAMESPACE");
        }
        return device.addresses().isEmpty()
                ? Finding.missing(
                        subject,
                        "the device has no address",
                        "sudo ip address add ADDRESS/24 dev " + networkInterface(device))
                : Finding.ok(subject, String.join(", ", device.addresses()));
    }

    private static String networkInterface(Device device) {
        return device.ports().stream()
                .flatMap(port -> port.interfaces().stream())
                .findFirst()
                .orElse("INTERFACE");
    }

    /**
     * Registers memory, and prepares a connection of the device to itself. This makes a queue pair.
     */
    private static Finding connection(String name, String address) {
        String subject = name + " queues";
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.allocate(1)) {
            peer.register(memory, RpmaMrUsage.RECV).close();
            RpmaConnReq.create(peer, address, EndpointOptions.DEFAULT_PORT, null)
                    .close();
            return Finding.ok(subject, "memory can be registered, and a queue pair made");
        } catch (RpmaException e) {
            return noQueues(subject, e);
        }
    }

    /** Reports that a device has no queue pair or no region for a connection. */
    static Finding noQueues(String subject, RpmaException failure) {
        String reason = Errors.line(failure);
        if (failure.operation().equals("rpma_peer_new") && failure.error() == RpmaError.NOSUPP) {
            return Finding.missing(subject, reason, SHOW_LIBRARIES);
        }
        // the finding of the locked memory has the command that raises the limit
        String locked = Set.of("ENOMEM", "EPERM").contains(failure.errnoName()) ? "ulimit -l; " : "";
        return Finding.missing(subject, reason, cgroupRemedy(reason).orElse(locked + "rdma resource show"));
    }

    private static Finding deviceOf(String address) throws IOException {
        boolean own;
        try {
            own = NetworkInterface.getByInetAddress(InetAddress.getByName(address)) != null;
        } catch (UnknownHostException e) {
            return Finding.missing(address, "the name is unknown", "getent hosts " + address);
        }
        try {
            RpmaDevice device = own ? RpmaDevice.local(address) : RpmaDevice.remote(address);
            return Finding.ok(address, (own ? "the address of " : "reached through ") + device.name());
        } catch (RpmaException e) {
            return own
                    ? Finding.missing(address, Device.reason(e), "rdma link")
                    : Finding.missing(address, "no device reaches it: " + Device.reason(e), "ip route get " + address);
        }
    }
}
