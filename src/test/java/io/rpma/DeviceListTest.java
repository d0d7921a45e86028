// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.programs.AddressesProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of devices and the properties of a device. The stand-in also makes up the addresses of the machine. */
@Tag("stand-in")
class DeviceListTest {
    private static final String LIST = "ibv_get_device_list";
    private static final String GLOBAL = "fd99:0:0:0:0:0:0:1";

    /** The JDK refuses the name of an interface that has no such address on the machine, so the scope is a number. */
    private static final String LINK_LOCAL = "fe80:0:0:0:0:0:0:99%1";

    private static final int EPERM = 1;
    private static final int EIO = 5;
    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EMFILE = 24;
    private static final int ENOSYS = 38;

    private final StandIn standIn = StandIn.open();
    private final RpmaDevice device = RpmaDevice.local(TestDevice.address());

    @AfterEach
    void close() {
        standIn.close();
    }

    @Test
    void theDevice() {
        assertThat(RpmaDevice.list()).containsExactly(device);
        assertThat(device).hasToString("RpmaDevice[standin0]");
        assertThat(device.vendorId()).isEqualTo(0x123456);
        assertThat(device.vendorPartId()).isEqualTo(7);
        assertThat(device.nodeGuid()).isEqualTo("0000:0000:0052:4d41");
        assertThat(device.firmwareVersion()).isEqualTo("1.0 of the stand-in");
        assertThat(device.addresses()).isEqualTo(device.ports().get(0).addresses());
    }

    /** Only a link-local address has a scope: a call takes no other address with one. */
    @Test
    void eachAddressIsTakenByCalls() throws Exception {
        List<String> addresses =
                device.addresses().stream().map(InetAddress::getHostAddress).toList();
        assertThat(addresses).containsExactly(TestDevice.address(), GLOBAL, LINK_LOCAL);
        try (RpmaPeer peer = TestDevice.peer()) {
            for (String address : addresses) {
                int port = TestDevice.port();
                assertThat(RpmaDevice.local(address)).isEqualTo(device);
                assertThat(RpmaDevice.remote(address)).isEqualTo(device);
                RpmaEp.listen(peer, address, port).close();
                RpmaConnReq.create(peer, address, port, null).close();
            }
        }
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("192.0.2.1"))
                .withMessageEndingWith(
                        "; name one of %s (standin0), %s (standin0), %s (standin0)".formatted(addresses.toArray()));
    }

    private static void assertPrintsTheAddresses(Jvm jvm) throws InterruptedException {
        Jvm.Finished finished = jvm.run(AddressesProgram.class, "192.0.2.1");
        assertThat(finished.out().lines())
                .as(finished.toString())
                .startsWith(TestDevice.address() + " standin0", GLOBAL + " standin0", LINK_LOCAL + " standin0");
    }

    @Test
    void addressesOfIpv6InAJvmThatPrefersIpv4() throws InterruptedException {
        assertPrintsTheAddresses(Jvm.likeThis().options("-Djava.net.preferIPv4Stack=true"));
    }

    /** The JDK fails to list the interfaces if none is up. A container can forbid new namespaces. */
    @Test
    void noInterfaceIsUp() throws InterruptedException {
        String alone = "unshare --user --map-root-user --net";
        assertPrintsTheAddresses(
                Jvm.likeThis().under("sh", "-c", alone + " true && exec " + alone + " \"$@\"; exec \"$@\"", "sh"));
    }

    @Test
    void theLimits() {
        assertThat(device.limits())
                .containsOnlyKeys(
                        "max_pd",
                        "max_mr",
                        "max_mr_size",
                        "max_cq",
                        "max_cqe",
                        "max_qp",
                        "max_qp_wr",
                        "max_sge",
                        "max_sge_rd",
                        "max_qp_rd_atom",
                        "max_qp_init_rd_atom",
                        "max_srq",
                        "max_srq_wr",
                        "max_srq_sge",
                        "max_ah")
                .containsEntry("max_mr_size", Long.MAX_VALUE)
                .containsEntry("max_cqe", 32767L)
                .containsEntry("max_sge", 64L);
        StandIn.setLimit("max_qp", 12);
        assertThat(device.limits()).containsEntry("max_qp", 12L);
        StandIn.setLimit("max_qp", 0);
        assertThat(device.limits().get("max_qp")).isGreaterThan(12);
    }

    @Test
    void thePort() {
        RpmaPort port = device.ports().get(0);
        assertThat(port)
                .isEqualTo(new RpmaPort(
                        1,
                        RpmaPort.State.ACTIVE,
                        RpmaPort.LinkLayer.ETHERNET,
                        1024,
                        8 << 20,
                        List.of("lo"),
                        port.addresses()));
        assertThat(port)
                .hasToString("RpmaPort[1, ACTIVE, ETHERNET, MTU 1024, [lo], [" + TestDevice.address() + ", " + GLOBAL
                        + ", " + LINK_LOCAL + "]]");
    }

    /** librdmacm and then the shim ask for the devices. */
    @Test
    void aKernelWithoutRdma() {
        standIn.fail(LIST, 2, ENOSYS);
        assertThat(RpmaDevice.list()).isEmpty();
        standIn.fail(LIST, 2, ENOSYS);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("0.0.0.0"))
                .withMessageEndingWith(
                        "0.0.0.0 is the address of no device: it stands for all addresses; there is no RDMA"
                                + " device in this network namespace: see 'rdma link', and /dev/infiniband in a container");
    }

    @Test
    void aListThatFails() {
        standIn.fail(LIST, 2, EPERM);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(RpmaDevice::list)
                .satisfies(e -> assertThat(e.operation()).isEqualTo("rdma_get_devices"))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .withMessageEndingWith("ibv_get_device_list() failed: Operation not permitted");
        assertThat(RpmaDevice.list()).containsExactly(device);
    }

    @Test
    void aDeviceThatCanNotBeOpened() {
        standIn.fail(LIST, 1, EPERM).fail("ibv_open_device", 1, EACCES);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(RpmaDevice::list)
                .withMessageContaining("ibv_open_device(standin0) failed: Permission denied")
                .withMessageEndingWith("; see the permissions of the files in /dev/infiniband");
    }

    @Test
    void aDeviceThatTheCgroupDoesNotPermit() {
        standIn.fail(LIST, 1, EPERM).fail("ibv_open_device", 1, EAGAIN);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(RpmaDevice::list)
                .withMessageContaining(
                        "ibv_open_device(standin0) failed: Resource temporarily unavailable; rdma_get_devices() failed:"
                                + " No such device; a limit of the cgroup")
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EAGAIN"))
                .withMessageContaining("/rdma.max")
                .satisfies(e -> assertThat(e).hasMessageNotContaining("permissions"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_query_device",
                "ibv_query_port",
                "ibv_query_gid_table",
                "getifaddrs",
                "ucma:BIND_IP",
                "ucma:DESTROY_ID"
            })
    void aQueryThatFails(String call) {
        standIn.fail(call, 1, EIO);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(device::addresses)
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .satisfies(e -> assertThat(e.detail()).endsWith(" failed: Input/output error"));
        assertThat(device.addresses()).isNotEmpty();
    }

    @Test
    void theAddressesCanNotBeReadWithoutDescriptors() {
        standIn.fail("getifaddrs", 1, EMFILE);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(device::addresses)
                .withMessageContaining("getifaddrs() failed: Too many open files; too many descriptors are open");
    }

    @Test
    void limitsThatAreNotReported() {
        standIn.fail("ibv_query_device", 1, EIO);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(device::limits)
                .satisfies(e -> assertThat(e.operation()).isEqualTo("ibv_query_device_ex"))
                .satisfies(e -> assertThat(e.detail()).endsWith(" failed: Input/output error"));
    }

    /** librpma shows an address only by its canonical name. */
    @Test
    void theMessageNamesTheAddress() {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("192.0.2.1"))
                .withMessageContaining("rdma_bind_addr(addr=192.0.2.1) failed: No such device");
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.remote("192.0.2.1"))
                .withMessageContaining("dst_addr=192.0.2.1, timeout_ms=1000) failed: No such device");
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("localhost"))
                .satisfies(
                        e -> assertThat(e).hasMessageMatching(".*\\(addr=localhost \\((127.0.0.1|::1)\\)\\) failed.*"));
    }

    @Test
    void noAdviceIfTheAddressIsNotTheCause() {
        standIn.fail("ucma:CREATE_ID", 1, ENOMEM);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(TestDevice.address()))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("no RDMA device"));
    }

    @Test
    void theAdviceDoesNotReplaceAFailure() {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("192.0.2.1"))
                .withMessageContaining("; name one of ");
        standIn.fail("ibv_query_port", 1, EIO);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("192.0.2.1"))
                .satisfies(e -> assertThat(e.operation()).isEqualTo("rpma_utils_get_ibv_context"))
                .withMessageContaining("; the devices can't be listed: ibv_query_port failed: ");
    }
}
