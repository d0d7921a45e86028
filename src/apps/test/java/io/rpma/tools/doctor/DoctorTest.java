// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPort;
import io.rpma.RpmaPort.LinkLayer;
import io.rpma.RpmaPort.State;
import io.rpma.internal.Access;
import io.rpma.internal.Errno;
import io.rpma.internal.Result;
import io.rpma.support.Device;
import io.rpma.support.Page;
import io.rpma.support.Versions;
import io.rpma.testing.Jvm;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks of devices, the output and the status. {@code ToolsIT} runs the command with a device. */
class DoctorTest {
    private static Device device(State state, String... addresses) {
        Device.Port port =
                new Device.Port(1, state, LinkLayer.ETHERNET, 1024, 1 << 23, List.of("eth7"), List.of(addresses));
        return new Device(
                "rxe0", "rdma_rxe", 0xffffff, 0, "", "", true, true, false, false, true, Map.of(), List.of(port));
    }

    @Test
    void aPort() {
        assertThat(DeviceChecks.port(device(RpmaPort.State.ACTIVE)))
                .isEqualTo(Finding.ok("rxe0 port", "port 1 is active"));
        assertThat(DeviceChecks.port(device(RpmaPort.State.DOWN)))
                .isEqualTo(Finding.missing("rxe0 port", "no port is active: DOWN", "sudo ip link set eth7 up"));
    }

    @Test
    void anAddress() {
        assertThat(DeviceChecks.address(device(RpmaPort.State.ACTIVE, "10.0.0.1", "fe80::1%eth7")))
                .isEqualTo(Finding.ok("rxe0 address", "10.0.0.1, fe80::1%eth7"));
        assertThat(DeviceChecks.address(device(RpmaPort.State.ACTIVE)))
                .isEqualTo(Finding.missing(
                        "rxe0 address", "the device has no address", "sudo ip address add ADDRESS/24 dev eth7"));
    }

    @Test
    void aDeviceWithoutANetworkInterface() {
        Device.Port port = new Device.Port(1, State.ACTIVE, LinkLayer.ETHERNET, 1024, 1 << 23, List.of(), List.of());
        Device device = new Device(
                "rxe0", "rdma_rxe", 0xffffff, 0, "", "", true, true, false, false, true, Map.of(), List.of(port));
        assertThat(DeviceChecks.address(device))
                .isEqualTo(Finding.missing(
                        "rxe0 address",
                        "the device has no network interface in this network namespace, and so no address",
                        "sudo ip link set INTERFACE netns NAMESPACE"));
    }

    @Test
    void theLibraryFindsNoDevice() {
        Versions versions = new Versions("1", "1.3.0", "56.1", "7", "25");
        Finding known = Finding.ok("devices", "rxe0");
        Finding unknown = Finding.warning("devices", "sysfs is not mounted", "mount it");
        Finding ok = Finding.ok("library", "librpma 1.3.0, rdma-core 56.1");
        assertThat(DeviceChecks.library(versions, List.of(device(State.ACTIVE)), known))
                .isEqualTo(ok);
        assertThat(DeviceChecks.library(versions, List.of(), Finding.missing("devices", "none", "")))
                .isEqualTo(ok);
        assertThat(DeviceChecks.library(versions, List.of(), known))
                .isEqualTo(Finding.missing(
                        "library",
                        "it finds none of rxe0: they belong to another network namespace, unless 'rdma dev' shows them;"
                                + " then their provider, a part of rdma-core, is not installed",
                        "sudo rdma dev set DEVICE netns NAMESPACE"));
        assertThat(DeviceChecks.library(versions, List.of(), unknown))
                .isEqualTo(Finding.missing("library", "it finds no device", "mount it"));
    }

    @Test
    void aDeviceThatLibrdmacmDoesNotKnow() {
        String guid = "0000:0000:0000:0000";
        Device device =
                new Device("mlx5_2", "mlx5_core", 0, 0, guid, "", true, true, false, false, true, Map.of(), List.of());
        assertThat(DeviceChecks.address(device))
                .isEqualTo(Finding.missing(
                        "mlx5_2 address",
                        "the node GUID is 0, so that librdmacm does not know the device",
                        "sudo ip link set PARENT vf NUMBER node_guid GUID"));
    }

    private static Finding noQueues(String operation, int code, int errno, String messages) {
        RpmaException failure = (RpmaException) Access.get().exception(operation, code, errno, messages, "the hint");
        return DeviceChecks.noQueues("rxe0 queues", failure);
    }

    @ParameterizedTest
    @CsvSource({
        "rpma_mr_reg,       12, ibv_reg_mr() failed: Cannot allocate memory,           ulimit -l; rdma resource show",
        "rpma_mr_reg,       95, ibv_reg_mr() failed: Operation not supported,          rdma resource show",
        "rpma_conn_req_new, 12, rdma_create_qp_ex() failed: Cannot allocate memory,    ulimit -l; rdma resource show",
        "rpma_conn_req_new, 22, rdma_create_qp_ex() failed: Invalid argument,          rdma resource show",
        "rpma_mr_reg,       1,  ibv_reg_mr() failed: Operation not permitted,          ulimit -l; rdma resource show",
        "rpma_peer_new,     28, ibv_alloc_pd() failed: No space left on device,        rdma resource show"
    })
    void theReasonForNoQueues(String operation, int errno, String messages, String remedy) {
        assertThat(noQueues(operation, Result.PROVIDER, errno, messages))
                .isEqualTo(Finding.missing(
                        "rxe0 queues",
                        operation + " failed: Provider error occurred (PROVIDER): " + messages + "; the hint",
                        remedy));
    }

    /** Of the list of devices, too. */
    @Test
    void aLimitOfTheCgroup() {
        String reason = "ibv_alloc_pd() failed: Resource temporarily unavailable; see /sys/fs/cgroup/a/rdma.max, where";
        assertThat(noQueues("rpma_peer_new", Result.PROVIDER, Errno.EAGAIN, reason)
                        .remedy())
                .isEqualTo("cat /sys/fs/cgroup/a/rdma.max");
        assertThat(DeviceChecks.cgroupRemedy("ibv_open_device(rxe0) failed: Permission denied"))
                .isEmpty();
    }

    @Test
    void anRdmaCoreThatIsOlderThanLibrpma() {
        Finding finding = noQueues("rpma_peer_new", Result.NOSUPP, 0, "librpma calls functions that rdma-core lacks");
        assertThat(finding.detail()).contains("librpma calls functions that rdma-core lacks; the hint");
        assertThat(finding.remedy()).isEqualTo("find / -name 'librpma.so*' -o -name 'libibverbs.so*'");
    }

    /** {@code LoaderTest} has the whole messages. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    librpma-java.so: librpma.so.0: cannot open shared object file              | an installation
                    librpma-java.so: libibverbs.so.1: cannot open shared object file           | an installation
                    librpma-java.so: librdmacm.so.1: cannot open shared object file            | an installation
                    librpma-java.so: undefined symbol: rpma_srq_new, version LIBRPMA_1.0       | find / -name 'librpma.so*' -o -name 'libibverbs.so*'
                    /usr/lib/librpma.so.0: version `LIBRPMA_1.0' not found                     | find / -name 'librpma.so*' -o -name 'libibverbs.so*'
                    failed to map segment; name another directory with -Djava.io.tmpdir        | java -Djava.io.tmpdir=DIRECTORY -jar ...
                    -Djava.io.tmpdir has letters; start Java in a locale with LC_ALL=C.UTF-8  | LC_ALL=C.UTF-8 java -jar ...
                    -Dio.rpma.library=/a/librpma-java.so names no file that can be read        | ''
                    rpma-java runs on Linux on x86_64 and aarch64, this is Linux on riscv64    | ''
                    librpma-java.so: file too short                                            | ''
                    """)
    void aLibraryThatCanNotBeLoaded(String reason, String remedy) {
        assertThat(DeviceChecks.libraryRemedy(reason, "an installation")).isEqualTo(remedy);
    }

    @Test
    void nativeAccess() {
        assertThat(DeviceChecks.nativeAccess(17).detail()).isEqualTo("Java 17 permits it");
        assertThat(DeviceChecks.nativeAccess(25).detail()).contains("--enable-native-access=ALL-UNNAMED");
    }

    @Test
    void oneUsableDeviceIsEnough() {
        Finding up = Finding.ok("mlx5_0 port", "port 1 is active");
        Finding down = Finding.missing("mlx5_1 port", "no port is active: DOWN", "sudo ip link set eth8 up");
        assertThat(DeviceChecks.anyUsable(List.of(List.of(up), List.of(down))))
                .containsExactly(up, Finding.warning(down.subject(), down.detail(), down.remedy()));
        assertThat(DeviceChecks.anyUsable(List.of(List.of(up, down)))).containsExactly(up, down);
    }

    @Test
    void aLongSubjectHasASpaceOfItsOwn() {
        assertPrinted(0, """
                ok       rocep65s0f0 address  10.0.0.1
                ok       a part               is there

                This machine is ready for RDMA.
                """, Finding.ok("rocep65s0f0 address", "10.0.0.1"), Finding.ok("a part", "is there"));
    }

    private static void assertPrinted(int status, String printed, Finding... findings) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(Doctor.print(List.of(findings), new Page(new PrintStream(out))))
                .isEqualTo(status);
        assertThat(out).hasToString(printed);
    }

    @Test
    void allIsWell() {
        assertPrinted(
                0,
                """
                ok       a part           is there
                none     another one      is not
                                          make it
                warning  locked memory    low

                This machine is ready for RDMA.
                """,
                Finding.ok("a part", "is there"),
                Finding.none("another one", "is not", "make it"),
                Finding.warning("locked memory", "low", ""));
    }

    @Test
    void onePartIsMissing() {
        assertPrinted(
                1,
                """
                missing  a part           it is not there, and the reason is so long that it
                                          continues here
                                          a command

                1 required part is missing.
                """,
                Finding.missing(
                        "a part", "it is not there, and the reason is so long that it continues here", "a command"));
    }

    @Test
    void twoPartsAreMissing() {
        assertPrinted(1, """
                missing  one              is not there
                missing  two              is not there

                2 required parts are missing.
                """, Finding.missing("one", "is not there", ""), Finding.missing("two", "is not there", ""));
    }

    @Test
    void thisMachine() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run("doctor");
        if (RpmaDevice.list().isEmpty()) {
            assertThat(end.out()).containsPattern("(?m)^missing  devices +there is no RDMA device$");
            assertThat(end.status()).isEqualTo(1);
        }
        assertThat(end.out()).containsPattern("(?m)^ok       library +librpma ").doesNotContain("\u001b");
        assertThat(end.err()).isEmpty();
    }

    @Test
    void withoutTheNativeLibrary() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().options("-Dio.rpma.library=/nowhere").run("doctor");
        assertThat(end.out())
                .contains("missing  library          -Dio.rpma.library=/nowhere names no file that can be")
                .contains("locked memory");
        assertThat(end.status()).isEqualTo(1);
    }
}
