// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

import io.rpma.support.ByteSize;
import io.rpma.support.Product;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The checks of files in {@code /proc}, {@code /sys}, {@code /dev} and {@code /lib/modules}. */
final class HostChecks {
    /** The capability to lock memory without a limit, in the mask of {@code /proc/self/status}. */
    private static final long CAP_IPC_LOCK = 1L << 14;

    /** The least size of a page, and so of registered memory. */
    private static final long PAGE = 4096;

    /** Up to Linux 5.15 the default limit is 64 KiB, which the queues of one connection can exceed, but need not. */
    private static final long ENOUGH_FOR_QUEUES = 1 << 20;

    /** The kernel's own default is at most 8 MiB, and programs register more. */
    private static final long FEW_LOCKED = 64 << 20;

    private static final String PURPOSE = ", for queues and registered memory";

    private static final String RUN_IN_GUEST = Product.NAME + " rxe run CMD";

    /** Moves a device to the network namespace of the program, from that of the machine. */
    static final String OTHER_NAMESPACE = "sudo rdma dev set DEVICE netns NAMESPACE";

    private static final String VERBS = "sys/class/infiniband_verbs";

    private static final String DAX_FILE_SYSTEM = "DAX file system";

    /** The devices of persistent memory: regions, and namespaces, which are parts of them. */
    private static final String PERSISTENT = "sys/bus/nd/devices";

    private static final String NEW_NAMESPACE = "sudo ndctl create-namespace --map=dev ";

    private final Path root;
    private final Predicate<Path> accessible;

    /**
     * Makes the checks of a tree of files.
     *
     * @param root the root directory
     * @param accessible whether this process can read and write a file
     */
    HostChecks(Path root, Predicate<Path> accessible) {
        this.root = root;
        this.accessible = accessible;
    }

    /** Makes the checks of this machine. */
    static HostChecks ofThisMachine() {
        return new HostChecks(Path.of("/"), path -> Files.isReadable(path) && Files.isWritable(path));
    }

    /** Returns the command that installs the packages that the library needs; empty if their names are not known. */
    static String installation(Path root) {
        if (Files.exists(root.resolve("usr/bin/apt-get"))) {
            return "sudo apt-get install librpma0 libibverbs1 librdmacm1 ibverbs-providers";
        }
        return Files.exists(root.resolve("usr/bin/dnf")) ? "sudo dnf install librpma libibverbs librdmacm" : "";
    }

    List<Finding> all() throws IOException {
        List<Finding> findings = new ArrayList<>();
        if (hasSysfs()) {
            findings.add(module("ib_uverbs", VERBS));
            findings.add(module("rdma_ucm", "sys/class/misc/rdma_cm"));
        }
        findings.add(devices());
        findings.addAll(deviceFiles());
        findings.add(lockedMemory());
        findings.add(hugePages());
        findings.addAll(deviceDax());
        findings.add(daxFileSystems());
        return findings;
    }

    /** Checks a module by a directory that it makes, because a module can be a part of the kernel itself. */
    Finding module(String module, String made) throws IOException {
        if (Files.exists(root.resolve(made))) {
            return Finding.ok(module, "loaded");
        }
        if (hasModule(module)) {
            return Finding.missing(module, "the module is not loaded", "sudo modprobe " + module);
        }
        String reason = Files.exists(modules())
                ? "this kernel has no such module"
                : "the module is not loaded, and /" + root.relativize(modules()) + " does not exist, as in a container";
        return Finding.missing(module, reason, RUN_IN_GUEST);
    }

    /** The directory of the modules of the running kernel. */
    private Path modules() throws IOException {
        return root.resolve("lib/modules")
                .resolve(text("proc/sys/kernel/osrelease").strip());
    }

    private boolean hasModule(String module) throws IOException {
        Path modules = modules();
        for (String list : List.of("modules.dep", "modules.builtin")) {
            Path file = modules.resolve(list);
            if (Files.exists(file) && Files.readString(file).contains("/" + module + ".ko")) {
                return true;
            }
        }
        return false;
    }

    private boolean hasSysfs() {
        return Files.exists(root.resolve("sys/class"));
    }

    Finding devices() throws IOException {
        if (!hasSysfs()) {
            return Finding.warning(
                    "devices",
                    "sysfs is not mounted at /sys, so that modules, devices and their files can't be checked",
                    "sudo mount -t sysfs sysfs /sys");
        }
        List<String> devices = names("sys/class/infiniband", "*");
        if (!devices.isEmpty()) {
            return Finding.ok("devices", String.join(", ", devices));
        }
        if (!names(VERBS, "uverbs*").isEmpty()) {
            return Finding.missing("devices", "they belong to another network namespace", OTHER_NAMESPACE);
        }
        return Finding.missing(
                "devices",
                "there is no RDMA device",
                hasModule("rdma_rxe")
                        ? "sudo modprobe rdma_rxe && sudo rdma link add rxe0 type rxe netdev " + networkInterface()
                        : RUN_IN_GUEST);
    }

    /** Returns a network interface for soft-RoCE. */
    private String networkInterface() throws IOException {
        return names("sys/class/net", "*").stream()
                .filter(name -> !name.equals("lo"))
                .findFirst()
                .orElse("INTERFACE");
    }

    List<Finding> deviceFiles() throws IOException {
        List<String> files = new ArrayList<>();
        if (Files.exists(root.resolve("sys/class/misc/rdma_cm"))) {
            files.add("rdma_cm");
        }
        files.addAll(names(VERBS, "uverbs*"));
        List<Finding> findings = new ArrayList<>();
        for (String file : files) {
            findings.add(deviceFile("/dev/infiniband/" + file));
        }
        return findings;
    }

    private Finding deviceFile(String file) {
        Path path = root.resolve(file.substring(1));
        String name = path.getFileName().toString();
        if (Files.notExists(path)) {
            return Finding.missing(
                    name,
                    file + " does not exist, as in a container without RDMA",
                    "docker run --device /dev/infiniband --ulimit memlock=-1 ...");
        }
        return accessible.test(path)
                ? Finding.ok(name, file + " can be read and written")
                : Finding.missing(name, file + " can't be read and written", "sudo chmod 666 " + file);
    }

    Finding lockedMemory() throws IOException {
        Matcher limit =
                Pattern.compile("(?m)^Max locked memory +(\\S+) +(\\S+)").matcher(text("proc/self/limits"));
        Matcher capabilities = Pattern.compile("(?m)^CapEff:\\s*(\\p{XDigit}+)").matcher(text("proc/self/status"));
        if (!limit.find() || !capabilities.find()) {
            return Finding.warning("locked memory", "the limit is not in /proc/self/limits", "");
        }
        boolean unlimited = limit.group(1).equals("unlimited");
        if (unlimited || (Long.parseUnsignedLong(capabilities.group(1), 16) & CAP_IPC_LOCK) != 0) {
            return Finding.ok("locked memory", unlimited ? "unlimited" : "unlimited (CAP_IPC_LOCK)");
        }
        long bytes = Long.parseLong(limit.group(1));
        String size = ByteSize.text(bytes);
        String remedy = limit.group(2).equals("unlimited")
                ? "ulimit -l unlimited"
                : "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf, and log in again";
        if (bytes < PAGE) {
            return Finding.missing("locked memory", "the limit is " + size + ": no memory can be registered", remedy);
        }
        if (bytes < FEW_LOCKED) {
            String consequence = bytes < ENOUGH_FOR_QUEUES
                    ? "; the queues of one connection can exceed it"
                    : "; programs that register more fail";
            return Finding.warning("locked memory", "the limit is low: " + size + PURPOSE + consequence, remedy);
        }
        return Finding.ok("locked memory", "at most " + size + PURPOSE);
    }

    Finding hugePages() throws IOException {
        String memory = text("proc/meminfo");
        Matcher total = Pattern.compile("(?m)^HugePages_Total: +(\\d+)").matcher(memory);
        Matcher free = Pattern.compile("(?m)^HugePages_Free: +(\\d+)").matcher(memory);
        Matcher size = Pattern.compile("(?m)^Hugepagesize: +(\\d+) kB").matcher(memory);
        if (!total.find() || !free.find() || !size.find()) {
            return Finding.none("huge pages", "this kernel has none", "");
        }
        return total.group(1).equals("0")
                ? Finding.none("huge pages", "none of " + size.group(1) + " KiB", "sudo sysctl vm.nr_hugepages=64")
                : Finding.ok(
                        "huge pages",
                        free.group(1) + " of " + total.group(1) + " are free, of " + size.group(1) + " KiB");
    }

    List<Finding> deviceDax() throws IOException {
        List<Finding> findings = new ArrayList<>();
        for (String name : names("sys/bus/dax/devices", "dax*")) {
            String file = "/dev/" + name;
            Path path = root.resolve(file.substring(1));
            if (Files.notExists(path)) {
                findings.add(Finding.none(name, file + " does not exist", "docker run --device " + file + " ..."));
            } else if (accessible.test(path)) {
                findings.add(Finding.ok(name, file + " can be read and written"));
            } else {
                findings.add(Finding.warning(name, file + " can't be read and written", "sudo chown $USER " + file));
            }
        }
        if (findings.isEmpty()) {
            findings.add(noDeviceDax());
        }
        return findings;
    }

    private Finding noDeviceDax() throws IOException {
        if (names(PERSISTENT, "region*").isEmpty()) {
            return Finding.none("device DAX", "this machine has no persistent memory", "");
        }
        return hasFreePersistentMemory()
                ? Finding.none("device DAX", "none", NEW_NAMESPACE + "--mode=devdax")
                : Finding.none(
                        "device DAX",
                        "none; the command erases NAMESPACE, one of 'ndctl list -N'",
                        NEW_NAMESPACE + "--mode=devdax --force --reconfig=NAMESPACE");
    }

    private boolean hasFreePersistentMemory() throws IOException {
        for (String region : names(PERSISTENT, "region*")) {
            String free = PERSISTENT + "/" + region + "/available_size";
            if (Files.exists(root.resolve(free)) && !text(free).strip().equals("0")) {
                return true;
            }
        }
        return false;
    }

    Finding daxFileSystems() throws IOException {
        List<String[]> mounts = new ArrayList<>();
        for (String line : text("proc/self/mounts").split("\n")) {
            String[] fields = line.split(" ");
            if (fields.length > 3) {
                mounts.add(fields);
            }
        }
        List<String> withDax = mounts.stream()
                .filter(fields -> List.of(fields[3].split(",")).stream().anyMatch(HostChecks::isDax))
                .map(fields -> fields[1])
                .toList();
        return withDax.isEmpty() ? noDaxFileSystem(mounts) : Finding.ok(DAX_FILE_SYSTEM, String.join(", ", withDax));
    }

    /**
     * Reports that no file system with DAX is mounted.
     *
     * @param mounts the fields of each mounted file system: its device, its place and its type
     */
    private Finding noDaxFileSystem(List<String[]> mounts) throws IOException {
        for (String disk : names("sys/block", "pmem*")) {
            String dax = "sys/block/" + disk + "/queue/dax";
            if (Files.exists(root.resolve(dax)) && text(dax).strip().equals("1")) {
                return noDaxFileSystem("/dev/" + disk, mounts);
            }
        }
        return Finding.none(
                DAX_FILE_SYSTEM, "none is mounted", hasFreePersistentMemory() ? NEW_NAMESPACE + "--mode=fsdax" : "");
    }

    /**
     * Reports that a disk of persistent memory is not mounted with DAX. No command makes a file system, which would
     * erase the disk.
     */
    private static Finding noDaxFileSystem(String disk, List<String[]> mounts) {
        String mount = "sudo mount -o dax=always " + disk + " ";
        List<String[]> ofDisk =
                mounts.stream().filter(fields -> fields[0].equals(disk)).toList();
        if (ofDisk.isEmpty()) {
            return Finding.none(
                    DAX_FILE_SYSTEM,
                    "none is mounted; " + disk + " needs ext4 or XFS: 'mkfs.ext4 -b 4096 " + disk + "' erases it",
                    "sudo mkdir -p /mnt/pmem && " + mount + "/mnt/pmem");
        }
        String place = ofDisk.get(0)[1];
        String type = ofDisk.get(0)[2];
        // a place with a blank has an escape
        boolean canMount = ofDisk.size() == 1 && List.of("ext4", "xfs").contains(type) && !place.contains("\\");
        return Finding.none(
                DAX_FILE_SYSTEM,
                place + " is mounted without DAX, as " + type,
                canMount ? "sudo umount " + place + " && " + mount + place : "");
    }

    private static boolean isDax(String option) {
        return option.equals("dax") || option.startsWith("dax=") && !option.equals("dax=never");
    }

    private String text(String file) throws IOException {
        return Files.readString(root.resolve(file), StandardCharsets.ISO_8859_1);
    }

    /** Returns the sorted names of the files in a directory, which need not exist. */
    private List<String> names(String directory, String glob) throws IOException {
        Path path = root.resolve(directory);
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(path)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(path, glob)) {
                files.forEach(file -> names.add(file.getFileName().toString()));
            }
        }
        names.sort(null);
        return names;
    }
}
