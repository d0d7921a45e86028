// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.testing.Eventually;
import io.rpma.testing.TestDevice;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of devices, and the properties of the device. */
class RpmaDeviceIT {
    private final RpmaDevice device = RpmaDevice.local(TestDevice.address());

    @Test
    void theListHasTheDevice() {
        assertThat(RpmaDevice.list()).contains(device).doesNotHaveDuplicates();
        assertThat(RpmaDevice.list()).isEqualTo(RpmaDevice.list());
    }

    @Test
    void thePortThatHasTheAddress() throws Exception {
        InetAddress address = InetAddress.getByName(TestDevice.address());
        RpmaPort port = device.ports().stream()
                .filter(any -> any.addresses().contains(address))
                .findFirst()
                .orElseThrow();
        assertThat(port.state()).isSameAs(RpmaPort.State.ACTIVE);
        assertThat(port.linkLayer()).isIn(RpmaPort.LinkLayer.ETHERNET, RpmaPort.LinkLayer.INFINIBAND);
        assertThat(port.activeMtu()).isIn(256, 512, 1024, 2048, 4096);
        assertThat(port.maxMessage()).isGreaterThanOrEqualTo(device.maxMessage());
        assertThat(port.interfaces())
                .contains(NetworkInterface.getByInetAddress(address).getName())
                .doesNotHaveDuplicates();
    }

    @Test
    void eachAddressFindsTheDevice() throws Exception {
        List<InetAddress> addresses = device.addresses();
        assertThat(addresses).contains(InetAddress.getByName(TestDevice.address()));
        assertThat(addresses.get(0).isLinkLocalAddress()).isFalse();
        for (InetAddress address : addresses) {
            assertThat(RpmaDevice.local(address.getHostAddress())).isEqualTo(device);
        }
    }

    /**
     * A link-local address without its interface is ambiguous. The kernel gives each interface such an address, and can
     * use it after it has looked for the same address of another host.
     */
    @Test
    void aLinkLocalAddressNeedsItsInterface() {
        Eventually.become(
                "a link-local address of the device", () -> !linkLocal().isEmpty());
        assertThat(linkLocal()).allSatisfy(address -> {
            assertThat(RpmaDevice.local(address)).isEqualTo(device);
            String alone = address.substring(0, address.indexOf('%'));
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> RpmaDevice.local(alone))
                    .withMessageContaining(address + " (" + device.name() + ")");
        });
    }

    private List<String> linkLocal() {
        return device.addresses().stream()
                .filter(InetAddress::isLinkLocalAddress)
                .map(InetAddress::getHostAddress)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "0.0.0.0"})
    void anAddressOfNoDevice(String address) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(address))
                .withMessageContaining(address + " is the address of no device: it stands for ")
                .withMessageContaining("; name one of ")
                .withMessageContaining(TestDevice.address() + " (" + device.name() + ")");
    }

    @Test
    void theLimits() {
        Map<String, Long> limits = device.limits();
        assertThat(limits).containsKeys("max_qp", "max_cqe", "max_mr_size");
        assertThat(limits.get("max_qp")).isPositive();
        assertThat(limits.get("max_mr_size")).isGreaterThan(1 << 20);
    }

    @Test
    void theIdentity() {
        assertThat(device.nodeGuid()).matches("\\p{XDigit}{4}(:\\p{XDigit}{4}){3}");
        assertThat(device.firmwareVersion()).isNotEmpty();
        if (TestDevice.isSoft()) {
            assertThat(device.vendorId()).isEqualTo(device.isIwarp() ? 0x626d74 : 0xffffff);
            assertThat(device.isAtomicCapable()).isEqualTo(!device.isIwarp());
        }
    }
}
