// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decision whether a device is in persistent memory, from the attributes of its region in sysfs. */
class PersistentMemoryTest {
    @TempDir
    private Path sysfs;

    private Path region(int index, String type, String domain) throws IOException {
        Path region = Files.createDirectories(sysfs.resolve("ndbus0/region" + index));
        Files.writeString(region.resolve("devtype"), type + "\n");
        Files.writeString(region.resolve("persistence_domain"), domain + "\n");
        return region;
    }

    @ParameterizedTest
    @CsvSource({
        "nd_pmem,     memory_controller, true",
        "nd_pmem,     cpu_cache,         true",
        "nd_pmem,     '',                false",
        "nd_pmem,     something_new,     false",
        "nd_volatile, memory_controller, false",
        "nd_volatile, '',                false",
        "'',          cpu_cache,         false",
    })
    void isPersistentIfItsRegionSaysSo(String type, String domain, boolean persistent) throws IOException {
        Path device = Files.createDirectories(region(0, type, domain).resolve("dax0.0/dax0.0"));
        assertThat(PersistentMemory.contains(device)).isEqualTo(persistent);
    }

    /** A region of virtio-pmem has no domain, because the host must execute each flush. */
    @Test
    void aRegionWithoutADomainIsNotPersistent() throws IOException {
        Path region = Files.createDirectories(sysfs.resolve("virtio1/ndbus0/region0"));
        Path device = Files.createDirectories(region.resolve("dax0.0/dax0.0"));
        Files.writeString(region.resolve("devtype"), "nd_pmem\n");
        assertThat(PersistentMemory.contains(device)).isFalse();
    }

    @Test
    void memoryOfAnotherBusIsNotPersistent() throws IOException {
        Path device = Files.createDirectories(sysfs.resolve("hmem.0/dax0.0"));
        assertThat(PersistentMemory.contains(device)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "nd_pmem,     nd_pmem,     true",
        "nd_pmem,     nd_volatile, false",
        "nd_volatile, nd_pmem,     false",
    })
    void aLogicalVolumeIsPersistentIfAllItsDevicesAre(String first, String second, boolean persistent)
            throws IOException {
        Path parts = Files.createDirectories(sysfs.resolve("virtual/block/dm-0/slaves"));
        for (int i = 0; i < 2; i++) {
            Path region = region(i, i == 0 ? first : second, "memory_controller");
            Path partition =
                    Files.createDirectories(region.resolve("namespace" + i + ".0/block/pmem" + i + "/pmem" + i + "p1"));
            Files.createSymbolicLink(parts.resolve("pmem" + i + "p1"), partition);
        }
        assertThat(PersistentMemory.contains(parts.getParent())).isEqualTo(persistent);
    }

    @Test
    void aVolumeWithoutDevicesIsNotPersistent() throws IOException {
        Path volume = Files.createDirectories(sysfs.resolve("virtual/block/loop0/slaves"))
                .getParent();
        assertThat(PersistentMemory.contains(volume)).isFalse();
    }

    @Test
    void aFileOfAnOrdinaryFileSystemIsNotPersistent() throws IOException {
        assertThat(PersistentMemory.containsFile(Files.createFile(sysfs.resolve("file"))))
                .isFalse();
        assertThat(PersistentMemory.containsFile(Path.of("/proc/self/status"))).isFalse();
    }
}
