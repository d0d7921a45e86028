// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Logged;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests pass on machines with and without an RDMA device. */
class RpmaDeviceTest {
    private static final String GET = "rpma_utils_get_ibv_context";

    private Logged log;

    @BeforeEach
    void capture() {
        log = new Logged();
    }

    @AfterEach
    void release() {
        log.close();
    }

    @Test
    void refusesWrongArguments() {
        assertThatNullPointerException().isThrownBy(() -> RpmaDevice.local(null));
        assertThatNullPointerException().isThrownBy(() -> RpmaDevice.remote(null));
        assertThatIllegalArgumentException().isThrownBy(() -> RpmaDevice.local(""));
        assertThatIllegalArgumentException().isThrownBy(() -> RpmaDevice.remote(""));
        assertThat(log.messages()).isEmpty();
    }

    /** The first address is reserved for documentation, so no machine has it. */
    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.1", "no-such-host.invalid", "1.2.3.4.5", "%s%n%x", "\u00fc\0\ud83d\ude00", " "})
    void noDeviceHasTheAddress(String address) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(address))
                .satisfies(e -> assertThat(e.operation()).isEqualTo(GET))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .satisfies(e -> assertThat(e.detail()).isNotEmpty())
                .satisfies(e -> assertThat(e).hasMessageContaining(e.detail()));
    }

    @Test
    void saysWhatToDoAboutAnAddressOfNoDevice() {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local("192.0.2.1"))
                .withMessageContaining("192.0.2.1")
                .withMessageContaining("no RDMA device has this address");
    }

    /** A line break in an address must neither truncate the text of a failure nor make it unreadable. */
    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\rb", "a\r\rb", "a\r\nb", "\n", "\r\n3", "a\u0085b"})
    void theTextOfAFailureIsWholeWhateverTheAddress(String address) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(address))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .satisfies(e -> {
                    assertThat(e.detail()).contains(", service=").isEqualTo(String.join("; ", log.messages()));
                });
    }

    /** Characters of one and of three bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"x", "\u20ac"})
    void theReasonIsWholeForTheLongestAddress(String character) {
        String longest = character.repeat(255);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(longest))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER))
                .satisfies(e -> assertThat(e.detail()).contains(longest + ", service=", "): "));
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 100_000})
    void noDeviceIsLookedForByWhatIsTooLong(int length) {
        String address = "x".repeat(length);
        for (ThrowingCallable find :
                List.<ThrowingCallable>of(() -> RpmaDevice.local(address), () -> RpmaDevice.remote(address))) {
            assertThatIllegalArgumentException().isThrownBy(find).withMessageContaining("not " + length);
        }
        assertThat(log.messages()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "localhost"})
    void theLoopbackIsADeviceOrRefusedWithReason(String address) {
        try {
            assertThat(RpmaDevice.local(address).name()).isNotEmpty();
        } catch (RpmaException e) {
            assertThat(e.error()).isSameAs(RpmaError.PROVIDER);
            assertThat(e.detail()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "0"})
    void aWildcardIsNoDevice(String address) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.local(address))
                .satisfies(e -> assertThat(e.error()).isIn(RpmaError.PROVIDER, RpmaError.INVAL))
                .withMessageContaining(address);
    }

    @Test
    void noDeviceLeadsToAHostThatDoesNotResolve() {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RpmaDevice.remote("no-such-host.invalid"))
                .satisfies(e -> assertThat(e.error()).isSameAs(RpmaError.PROVIDER));
    }
}
