// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reasons for which no device is found, in a tree of files. {@code ToolsIT} has the reasons that need a device. */
class DeviceFaultTest {
    private static final String MENDS = ": 'rpma-java doctor' shows the command that mends it";

    @TempDir
    private Path root;

    private DeviceFault fault;

    /** A failure of the library, other than the silence of a host. */
    private RpmaException failure;

    @BeforeEach
    void makeMachine() throws IOException {
        Files.createDirectories(root.resolve("sys/class/infiniband/rxe0"));
        Files.createDirectories(root.resolve("dev/infiniband"));
        Files.createFile(root.resolve("dev/infiniband/rdma_cm"));
        Files.createFile(root.resolve("dev/infiniband/uverbs0"));
        fault = new DeviceFault(root, path -> true);
        try {
            RpmaDevice.local("192.0.2.1");
        } catch (RpmaException e) {
            failure = e;
        }
    }

    private void assertBoth(String message) {
        assertThat(fault.remote("192.0.2.1", failure)).hasMessage(message).hasCause(failure);
        assertThat(fault.local("192.0.2.1", failure)).hasMessage(message).hasCause(failure);
    }

    @Test
    void anUnknownHost() {
        String message = "the host name host.invalid is unknown on this machine: see 'getent hosts host.invalid', or"
                + " name the address of the RDMA device";
        assertThat(fault.remote("host.invalid", failure)).hasMessage(message);
        assertThat(fault.local("host.invalid", failure)).hasMessage(message);
    }

    @Test
    void noDevice() throws IOException {
        Files.delete(root.resolve("sys/class/infiniband/rxe0"));
        assertBoth("this machine has no RDMA device" + MENDS);
        Files.delete(root.resolve("sys/class/infiniband"));
        assertBoth("this machine has no RDMA device" + MENDS);
    }

    @Test
    void sysfsIsNotMounted() throws IOException {
        Files.move(root.resolve("sys"), root.resolve("elsewhere"));
        assertThat(fault.local("192.0.2.1", failure))
                .hasMessageStartingWith("no RDMA device of this machine has the address");
    }

    @Test
    void noFileOfTheDevice() throws IOException {
        Files.delete(root.resolve("dev/infiniband/rdma_cm"));
        assertBoth("/dev/infiniband/rdma_cm does not exist" + MENDS);
        Files.createFile(root.resolve("dev/infiniband/rdma_cm"));
        Files.delete(root.resolve("dev/infiniband/uverbs0"));
        assertBoth("/dev/infiniband has no file uverbs* of a device" + MENDS);
    }

    @Test
    void noPermission() {
        fault = new DeviceFault(root, path -> !path.endsWith("rdma_cm"));
        assertBoth("no permission to read and write /dev/infiniband/rdma_cm" + MENDS);
        fault = new DeviceFault(root, path -> !path.endsWith("uverbs0"));
        assertBoth("no permission to read and write /dev/infiniband/uverbs0" + MENDS);
    }

    @Test
    void anAddressOfNoDevice() {
        assertThat(fault.local("192.0.2.1", failure))
                .hasMessage("no RDMA device of this machine has the address 192.0.2.1: 'rpma-java info' lists the"
                        + " addresses");
    }

    @Test
    void anAddressThatNoDeviceReaches() {
        assertThat(fault.remote("192.0.2.1", failure))
                .hasMessageStartingWith(
                        "no RDMA device of this machine reaches 192.0.2.1: see 'rpma-java doctor 192.0.2.1' (")
                .hasMessageContaining("(rdma_")
                .hasMessageNotContaining("(null)");
    }
}
