// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.function.ObjIntConsumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RpmaSrqCfgTest {
    /** Name, setter, getter, least value, and the name in the message of a refusal. */
    static Stream<Arguments> properties() {
        return Stream.of(
                property("rqSize", RpmaSrqCfg::setRqSize, RpmaSrqCfg::getRqSize, 1, "a shared receive queue"),
                property("rcqSize", RpmaSrqCfg::setRcqSize, RpmaSrqCfg::getRcqSize, 0, "a receive completion queue"));
    }

    private static Arguments property(
            String name, ObjIntConsumer<RpmaSrqCfg> setter, ToIntFunction<RpmaSrqCfg> getter, int least, String words) {
        return Arguments.of(name, setter, getter, least, words);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void keepsWhatIsSetAndRefusesTooLittle(
            String name, ObjIntConsumer<RpmaSrqCfg> setter, ToIntFunction<RpmaSrqCfg> getter, int least, String words) {
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create()) {
            assertThat(getter.applyAsInt(cfg))
                    .as("librpma's default, which its manual gives as 100")
                    .isEqualTo(20);
            for (int value : new int[] {least, 4096, Integer.MAX_VALUE}) {
                setter.accept(cfg, value);
                assertThat(getter.applyAsInt(cfg)).isEqualTo(value);
            }
            for (int value : new int[] {least - 1, -1, Integer.MIN_VALUE}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> setter.accept(cfg, value))
                        .withMessageContaining(words)
                        .withMessageContaining(Integer.toString(value));
            }
            assertThat(getter.applyAsInt(cfg)).isEqualTo(Integer.MAX_VALUE);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void isOfNoUseWhenClosed(String name, ObjIntConsumer<RpmaSrqCfg> setter, ToIntFunction<RpmaSrqCfg> getter) {
        RpmaSrqCfg cfg = RpmaSrqCfg.create();
        cfg.close();
        cfg.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> setter.accept(cfg, 1))
                .withMessageContaining(cfg.object() + " is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> getter.applyAsInt(cfg))
                .withMessageContaining(cfg.object() + " is closed");
    }

    @Test
    void settersCanBeChained() {
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create()) {
            assertThat(cfg.setRqSize(1).setRcqSize(0)).isSameAs(cfg);
        }
    }

    @Test
    void aQueueNeedsAPeerAndAnOpenConfiguration() {
        assertThatNullPointerException().isThrownBy(() -> RpmaSrq.create(null, null));
        RpmaSrqCfg cfg = RpmaSrqCfg.create();
        cfg.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> RpmaSrq.create(null, cfg))
                .withMessageContaining(cfg.object() + " is closed");
    }
}
