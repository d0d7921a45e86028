// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class HostAddressTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1, 7204",
        "10.0.0.1:1, 10.0.0.1, 1",
        "pmem-host:65535, pmem-host, 65535",
        "fe80::1, fe80::1, 7204",
        "::1, ::1, 7204",
        "[fe80::1], fe80::1, 7204",
        "[fe80::1]:7205, fe80::1, 7205"
    })
    void addresses(String text, String address, int port) {
        assertThat(new HostAddress.Converter().convert(text)).isEqualTo(new HostAddress(address, port));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":7204",
                "host:",
                "host:0",
                "host:65536",
                "host:99999",
                "host:7204x",
                "[]:1",
                "[::1",
                "host:-1"
            })
    void none(String text) {
        assertThatThrownBy(() -> new HostAddress.Converter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith("'" + text + "' ");
    }
}
