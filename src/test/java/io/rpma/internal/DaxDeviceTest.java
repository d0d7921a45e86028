// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The description of a device DAX in sysfs. */
class DaxDeviceTest {
    private static final Path DEVICE = Path.of("/dev/dax0.0");

    @TempDir
    private Path sysfs;

    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    private static void assertFails(ThrowingCallable call, String... parts) {
        assertThatExceptionOfType(FileSystemException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.getFile()).isEqualTo(DEVICE.toString()))
                .satisfies(e -> assertThat(e.getReason()).contains(parts));
    }

    @Test
    void theSize() throws IOException {
        Files.writeString(sysfs.resolve("size"), "16777216\n");
        DaxDevice device = new DaxDevice(DEVICE, sysfs);
        assertThat(device.size()).isEqualTo(16 << 20);
        assertThat(device.isPersistent()).isFalse();
    }

    @Test
    void aSizeThatIsMissing() {
        assertFails(
                () -> new DaxDevice(DEVICE, sysfs),
                "its description " + sysfs + " can't be read: ",
                "NoSuchFileException: " + sysfs.resolve("size") + "; sysfs must be mounted at /sys");
    }

    @Test
    void aSizeThatIsNoNumber() throws IOException {
        Files.writeString(sysfs.resolve("size"), "many\n");
        assertFails(() -> new DaxDevice(DEVICE, sysfs), "its description " + sysfs, "\"many\"", "daxctl list");
    }

    @Test
    void aDeviceThatSysfsDoesNotDescribe() {
        assertFails(
                () -> DaxDevice.sysfs(DEVICE, 0),
                "its description /sys/dev/char/0:0 can't be read: ",
                "NoSuchFileException: /sys/dev/char/0:0; sysfs must be mounted at /sys");
    }
}
