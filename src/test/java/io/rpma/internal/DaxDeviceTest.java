package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decision whether a device DAX is persistent, from its attributes in sysfs. */
@Timeout(30)
class DaxDeviceTest {
    @TempDir
    private Path sysfs;

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
        Path region = Files.createDirectories(sysfs.resolve("ndbus0/region0"));
        Path device = Files.createDirectories(region.resolve("dax0.0/dax0.0"));
        Files.writeString(region.resolve("devtype"), type + "\n");
        Files.writeString(region.resolve("persistence_domain"), domain + "\n");
        assertThat(DaxDevice.isPersistent(device)).isEqualTo(persistent);
    }

    /** A region of virtio-pmem has no domain, because the host must execute each flush. */
    @Test
    void aRegionWithoutADomainIsNotPersistent() throws IOException {
        Path region = Files.createDirectories(sysfs.resolve("virtio1/ndbus0/region0"));
        Path device = Files.createDirectories(region.resolve("dax0.0/dax0.0"));
        Files.writeString(region.resolve("devtype"), "nd_pmem\n");
        assertThat(DaxDevice.isPersistent(device)).isFalse();
    }

    @Test
    void memoryOfAnotherBusIsNotPersistent() throws IOException {
        Path device = Files.createDirectories(sysfs.resolve("hmem.0/dax0.0"));
        assertThat(DaxDevice.isPersistent(device)).isFalse();
    }
}
