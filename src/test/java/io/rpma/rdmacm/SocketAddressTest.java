// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SocketAddressTest {
    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 7471",
        "0.0.0.0, 0",
        "255.255.255.255, 65535",
        "::, 1",
        "fe80::1:2, 7471",
        "2001:db8::255, 256"
    })
    void comesBack(String host, int port) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), port);
        assertThat(SocketAddress.of(SocketAddress.toBytes(address))).isEqualTo(address);
    }

    @Test
    void isTheStructureOfIpv4() {
        byte[] expected = {2, 0, 0x1d, 0x2f, 10, 0, 0, (byte) 200, 0, 0, 0, 0, 0, 0, 0, 0};
        if (!LITTLE) {
            expected[0] = 0;
            expected[1] = 2;
        }
        assertThat(SocketAddress.toBytes(new InetSocketAddress("10.0.0.200", 0x1d2f)))
                .isEqualTo(expected);
    }

    @Test
    void isTheStructureOfIpv6() {
        byte[] bytes = SocketAddress.toBytes(new InetSocketAddress("::1", 0x1d2f));
        assertThat(bytes).hasSize(28);
        assertThat(bytes[LITTLE ? 0 : 1]).isEqualTo((byte) 10);
        assertThat(bytes[2]).isEqualTo((byte) 0x1d);
        assertThat(bytes[3]).isEqualTo((byte) 0x2f);
        assertThat(bytes[23]).isEqualTo((byte) 1);
    }

    @Test
    void keepsTheScope() throws Exception {
        InetAddress scoped = Inet6Address.getByAddress(
                null, new byte[] {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 3);
        InetSocketAddress back = SocketAddress.of(SocketAddress.toBytes(new InetSocketAddress(scoped, 1)));
        assertThat(((Inet6Address) back.getAddress()).getScopeId()).isEqualTo(3);
    }

    @Test
    void isNoneWithoutAFamily() {
        assertThat(SocketAddress.of(new byte[28])).isNull();
        assertThat(SocketAddress.of(new byte[16])).isNull();
        assertThat(SocketAddress.of(new byte[0])).isNull();
    }

    @Test
    void refusesANameThatIsNotKnown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SocketAddress.toBytes(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                .withMessageContaining("nowhere.invalid");
    }
}
