// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrnoTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    @ParameterizedTest
    @CsvSource({"11, EAGAIN", "111, ECONNREFUSED", "123456, ''", "-1, ''"})
    void namesAreThoseOfTheConstants(int errno, String name) {
        assertThat(Errno.name(errno)).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "12, Cannot allocate memory",
        "14, Bad address",
        "19, No such device",
        "22, Invalid argument",
        "95, Operation not supported",
        "98, Address already in use",
        "99, Cannot assign requested address",
        "0, Success",
        "-1, Unknown error -1",
        "123456, Unknown error 123456"
    })
    void textsAreTheSystems(int errno, String text) {
        assertThat(Errno.message(errno)).isEqualTo(text);
    }
}
