// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import io.rpma.tools.doctor.Finding.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks of a made-up machine: each test takes one part away from a machine that has all. */
class HostChecksTest {
    private static final String CONTAINER = "docker run --device /dev/infiniband --ulimit memlock=-1 ...";

    /** The free bytes of the region of persistent memory. */
    private static final String FREE = "sys/bus/nd/devices/region0/available_size";

    /** Whether the disk of persistent memory supports DAX. */
    private static final String DISK = "sys/block/pmem1/queue/dax";

    @TempDir
    private Path root;

    private HostChecks checks;

    @BeforeEach
    void makeMachine() throws IOException {
        checks = new HostChecks(root, Files::exists);
        write("proc/sys/kernel/osrelease", "6.12.1\n");
        write(
                "lib/modules/6.12.1/modules.dep",
                "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz:\n"
                        + "kernel/drivers/infiniband/core/ib_uverbs.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz\n");
        write("lib/modules/6.12.1/modules.builtin", "kernel/drivers/infiniband/core/rdma_ucm.ko\n");
        Files.createDirectories(root.resolve("sys/class/infiniband_verbs/uverbs0"));
        Files.createDirectories(root.resolve("sys/class/misc/rdma_cm"));
        Files.createDirectories(root.resolve("sys/class/infiniband/rxe0"));
        Files.createDirectories(root.resolve("sys/class/net/lo"));
        Files.createDirectories(root.resolve("sys/class/net/eth7"));
        Files.createDirectories(root.resolve("sys/bus/dax/devices/dax0.0"));
        write(FREE, "1073741824\n");
        write(DISK, "1\n");
        write("dev/infiniband/rdma_cm", "");
        write("dev/infiniband/uverbs0", "");
        write("dev/dax0.0", "");
        lock("unlimited", "unlimited", 0);
        write(
                "proc/meminfo",
                "MemTotal: 1 kB\nHugePages_Total:      64\nHugePages_Free:       60\nHugepagesize:       2048 kB\n");
        write("proc/self/mounts", "none / rootfs rw 0 0\n/dev/pmem1 /mnt/pmem ext4 rw,relatime,dax=always 0 0\n");
    }

    private void write(String file, String content) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }

    private void lock(String soft, String hard, long capabilities) throws IOException {
        write(
                "proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n"
                        + "Max locked memory         %-20s %-20s bytes\n".formatted(soft, hard));
        write("proc/self/status", "Name:\tjava\nCapEff:\t%016x\n".formatted(capabilities));
    }

    private void remove(String file) throws IOException {
        Files.delete(root.resolve(file));
    }

    /** The only finding that is not as it should be. */
    private Finding fault() throws IOException {
        List<Finding> faults = checks.all().stream()
                .filter(finding -> finding.state() != State.OK)
                .toList();
        assertThat(faults).hasSize(1);
        return faults.get(0);
    }

    @Test
    void aMachineThatHasAll() throws IOException {
        assertThat(checks.all())
                .containsExactly(
                        Finding.ok("ib_uverbs", "loaded"),
                        Finding.ok("rdma_ucm", "loaded"),
                        Finding.ok("devices", "rxe0"),
                        Finding.ok("rdma_cm", "/dev/infiniband/rdma_cm can be read and written"),
                        Finding.ok("uverbs0", "/dev/infiniband/uverbs0 can be read and written"),
                        Finding.ok("locked memory", "unlimited"),
                        Finding.ok("huge pages", "60 of 64 are free, of 2048 KiB"),
                        Finding.ok("dax0.0", "/dev/dax0.0 can be read and written"),
                        Finding.ok("DAX file system", "/mnt/pmem"));
    }

    @Test
    void noModuleOfVerbs() throws IOException {
        remove("sys/class/infiniband_verbs/uverbs0");
        remove("sys/class/infiniband_verbs");
        assertThat(fault())
                .isEqualTo(Finding.missing("ib_uverbs", "the module is not loaded", "sudo modprobe ib_uverbs"));
    }

    /** The module is a part of the kernel, and yet has made nothing. */
    @Test
    void noModuleOfTheConnectionManager() throws IOException {
        remove("sys/class/misc/rdma_cm");
        assertThat(fault())
                .isEqualTo(Finding.missing("rdma_ucm", "the module is not loaded", "sudo modprobe rdma_ucm"));
    }

    @Test
    void aKernelWithoutTheModule() throws IOException {
        remove("sys/class/misc/rdma_cm");
        write("lib/modules/6.12.1/modules.builtin", "");
        assertThat(fault())
                .isEqualTo(Finding.missing("rdma_ucm", "this kernel has no such module", "rpma-java rxe run CMD"));
    }

    /** The container has neither the modules of the host nor their list. */
    @Test
    void aContainerWithoutModules() throws IOException {
        remove("sys/class/misc/rdma_cm");
        write("proc/sys/kernel/osrelease", "6.12.2-cloud\n");
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        "rdma_ucm",
                        "the module is not loaded, and /lib/modules/6.12.2-cloud does not exist, as in a container",
                        "rpma-java rxe run CMD"));
    }

    private void removeDevice() throws IOException {
        remove("sys/class/infiniband/rxe0");
        remove("sys/class/infiniband_verbs/uverbs0");
    }

    @Test
    void noDeviceButTheModuleOfSoftRoce() throws IOException {
        removeDevice();
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        "devices",
                        "there is no RDMA device",
                        "sudo modprobe rdma_rxe && sudo rdma link add rxe0 type rxe netdev eth7"));
    }

    @Test
    void noDeviceAndNoNetworkInterface() throws IOException {
        removeDevice();
        remove("sys/class/net/eth7");
        assertThat(fault().remedy()).endsWith(" netdev INTERFACE");
    }

    @Test
    void noDeviceAndNoModules() throws IOException {
        removeDevice();
        remove("lib/modules/6.12.1/modules.dep");
        assertThat(fault().remedy()).isEqualTo("rpma-java rxe run CMD");
    }

    @Test
    void theDevicesOfAnotherNetworkNamespace() throws IOException {
        remove("sys/class/infiniband/rxe0");
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        "devices",
                        "they belong to another network namespace",
                        "sudo rdma dev set DEVICE netns NAMESPACE"));
    }

    @Test
    void sysfsIsNotMounted() throws IOException {
        Files.move(root.resolve("sys"), root.resolve("elsewhere"));
        Files.createDirectories(root.resolve("sys"));
        assertThat(checks.all())
                .noneMatch(finding -> finding.state() == State.MISSING)
                .contains(Finding.warning(
                        "devices",
                        "sysfs is not mounted at /sys, so that modules, devices and their files can't be checked",
                        "sudo mount -t sysfs sysfs /sys"));
    }

    @ParameterizedTest
    @CsvSource({"rdma_cm", "uverbs0"})
    void aContainerWithoutTheDeviceFiles(String file) throws IOException {
        remove("dev/infiniband/" + file);
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        file,
                        "/dev/infiniband/" + file + " does not exist, as in a container without RDMA",
                        CONTAINER));
    }

    @ParameterizedTest
    @CsvSource({"rdma_cm", "uverbs0"})
    void aDeviceFileWithoutPermission(String file) throws IOException {
        checks = new HostChecks(root, path -> !path.endsWith(file));
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        file,
                        "/dev/infiniband/" + file + " can't be read and written",
                        "sudo chmod 666 /dev/infiniband/" + file));
    }

    @ParameterizedTest
    @CsvSource({
        "65536, 65536, 64 KiB, the queues of one connection can exceed it",
        "65536, unlimited, 64 KiB, the queues of one connection can exceed it",
        "8388608, 8388608, 8 MiB, programs that register more fail",
        "8388608, unlimited, 8 MiB, programs that register more fail",
    })
    void littleLockedMemory(String soft, String hard, String size, String consequence) throws IOException {
        lock(soft, hard, 0x4000L - 1);
        assertThat(fault())
                .isEqualTo(
                        Finding.warning(
                                "locked memory",
                                "the limit is low: " + size + ", for queues and registered memory; " + consequence,
                                hard.equals("unlimited")
                                        ? "ulimit -l unlimited"
                                        : "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf, and log in again"));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "1000, 1000 B", "2048, 2 KiB"})
    void noLockedMemory(String soft, String size) throws IOException {
        lock(soft, "unlimited", 0);
        assertThat(fault())
                .isEqualTo(Finding.missing(
                        "locked memory",
                        "the limit is " + size + ": no memory can be registered",
                        "ulimit -l unlimited"));
    }

    @Test
    void enoughLockedMemory() throws IOException {
        lock("1073741824", "1073741824", 0);
        assertThat(checks.lockedMemory())
                .isEqualTo(Finding.ok("locked memory", "at most 1 GiB, for queues and registered memory"));
    }

    @Test
    void theCapabilityToLockMemory() throws IOException {
        lock("65536", "65536", 0x4000);
        assertThat(checks.lockedMemory()).isEqualTo(Finding.ok("locked memory", "unlimited (CAP_IPC_LOCK)"));
    }

    @Test
    void noHugePages() throws IOException {
        write("proc/meminfo", "HugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB\n");
        assertThat(fault()).isEqualTo(Finding.none("huge pages", "none of 2048 KiB", "sudo sysctl vm.nr_hugepages=64"));
    }

    @Test
    void aKernelWithoutHugePages() throws IOException {
        write("proc/meminfo", "MemTotal: 1 kB\n");
        assertThat(fault()).isEqualTo(Finding.none("huge pages", "this kernel has none", ""));
    }

    @Test
    void aDeviceDaxWithoutPermission() throws IOException {
        checks = new HostChecks(root, path -> !path.endsWith("dax0.0"));
        assertThat(fault())
                .isEqualTo(Finding.warning(
                        "dax0.0", "/dev/dax0.0 can't be read and written", "sudo chown $USER /dev/dax0.0"));
    }

    @Test
    void aDeviceDaxWithoutFile() throws IOException {
        remove("dev/dax0.0");
        assertThat(fault())
                .isEqualTo(Finding.none("dax0.0", "/dev/dax0.0 does not exist", "docker run --device /dev/dax0.0 ..."));
    }

    @Test
    void persistentMemoryWithoutDeviceDax() throws IOException {
        remove("sys/bus/dax/devices/dax0.0");
        assertThat(fault())
                .isEqualTo(Finding.none("device DAX", "none", "sudo ndctl create-namespace --map=dev --mode=devdax"));
    }

    /** The kernel has no number of free bytes for a region whose memory is one namespace for good. */
    @Test
    void persistentMemoryOfWhichNoneIsFree() throws IOException {
        remove("sys/bus/dax/devices/dax0.0");
        Finding expected = Finding.none(
                "device DAX",
                "none; the command erases NAMESPACE, one of 'ndctl list -N'",
                "sudo ndctl create-namespace --map=dev --mode=devdax --force --reconfig=NAMESPACE");
        write(FREE, "0\n");
        assertThat(fault()).isEqualTo(expected);
        remove(FREE);
        assertThat(fault()).isEqualTo(expected);
    }

    @Test
    void noPersistentMemory() throws IOException {
        remove("sys/bus/dax/devices/dax0.0");
        remove(FREE);
        remove("sys/bus/nd/devices/region0");
        assertThat(fault()).isEqualTo(Finding.none("device DAX", "this machine has no persistent memory", ""));
    }

    @ParameterizedTest
    @CsvSource({"relatime", "dax=never", "nodax"})
    void aFileSystemWithoutDax(String option) throws IOException {
        write("proc/self/mounts", "/dev/pmem1 /mnt/data ext4 rw," + option + " 0 0\n");
        assertThat(fault())
                .isEqualTo(Finding.none(
                        "DAX file system",
                        "/mnt/data is mounted without DAX, as ext4",
                        "sudo umount /mnt/data && sudo mount -o dax=always /dev/pmem1 /mnt/data"));
    }

    /** A command would lose a mount, or leave the disk without a mount. */
    @ParameterizedTest
    @CsvSource({
        "/dev/pmem1 /mnt/data btrfs rw 0 0, /mnt/data, btrfs",
        "/dev/pmem1 /mnt/the\\040data xfs rw 0 0, /mnt/the\\040data, xfs",
        "'/dev/pmem1 /mnt/a ext4 rw 0 0\n/dev/pmem1 /mnt/b ext4 rw 0 0', /mnt/a, ext4"
    })
    void aFileSystemThatNoCommandMounts(String mounts, String place, String type) throws IOException {
        write("proc/self/mounts", mounts + "\n");
        assertThat(fault())
                .isEqualTo(Finding.none("DAX file system", place + " is mounted without DAX, as " + type, ""));
    }

    @Test
    void aDiskOfPersistentMemoryThatIsNotMounted() throws IOException {
        write("proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\n");
        assertThat(fault())
                .isEqualTo(Finding.none(
                        "DAX file system",
                        "none is mounted; /dev/pmem1 needs ext4 or XFS: 'mkfs.ext4 -b 4096 /dev/pmem1' erases it",
                        "sudo mkdir -p /mnt/pmem && sudo mount -o dax=always /dev/pmem1 /mnt/pmem"));
    }

    @Test
    void persistentMemoryWithoutADiskThatSupportsDax() throws IOException {
        write("proc/self/mounts", "");
        write(DISK, "0\n");
        Finding expected = Finding.none(
                "DAX file system", "none is mounted", "sudo ndctl create-namespace --map=dev --mode=fsdax");
        assertThat(fault()).isEqualTo(expected);
        remove(DISK);
        assertThat(fault()).isEqualTo(expected);
        write(FREE, "0\n");
        assertThat(fault()).isEqualTo(Finding.none("DAX file system", "none is mounted", ""));
    }

    @Test
    void noFileSystemAndNoPersistentMemory() throws IOException {
        write("proc/self/mounts", "");
        remove(DISK);
        remove(FREE);
        remove("sys/bus/nd/devices/region0");
        assertThat(fault()).isEqualTo(Finding.none("DAX file system", "none is mounted", ""));
    }

    /** The names are those of the README. */
    @Test
    void thePackages() throws IOException {
        assertThat(HostChecks.installation(root)).isEmpty();
        write("usr/bin/dnf", "");
        String fedora = HostChecks.installation(root);
        write("usr/bin/apt-get", "");
        String debian = HostChecks.installation(root);
        assertThat(fedora).startsWith("sudo dnf install librpma ");
        assertThat(debian).startsWith("sudo apt-get install librpma0 ");
        String readme = Document.README.text();
        for (String command : List.of(fedora, debian)) {
            assertThat(readme).contains("`" + command.substring(command.indexOf("librpma")) + "`");
        }
    }
}
