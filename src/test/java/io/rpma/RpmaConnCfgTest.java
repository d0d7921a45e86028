// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.function.ObjIntConsumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RpmaConnCfgTest {
    /** Name, setter, getter, default, least value, and the name in the message of a refusal. */
    static Stream<Arguments> properties() {
        return Stream.of(
                property("timeout", RpmaConnCfg::setTimeout, RpmaConnCfg::getTimeout, 1000, 0, "timeout"),
                property("cqSize", RpmaConnCfg::setCqSize, RpmaConnCfg::getCqSize, 10, 1, "a completion queue"),
                property("sqSize", RpmaConnCfg::setSqSize, RpmaConnCfg::getSqSize, 10, 1, "a send queue"),
                property("rqSize", RpmaConnCfg::setRqSize, RpmaConnCfg::getRqSize, 10, 0, "a receive queue"),
                property(
                        "rcqSize",
                        RpmaConnCfg::setRcqSize,
                        RpmaConnCfg::getRcqSize,
                        0,
                        0,
                        "a receive completion queue"));
    }

    private static Arguments property(
            String name,
            ObjIntConsumer<RpmaConnCfg> setter,
            ToIntFunction<RpmaConnCfg> getter,
            int initial,
            int least,
            String words) {
        return Arguments.of(name, setter, getter, initial, least, words);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void startsWithTheDefaultsOfLibrpma(
            String name, ObjIntConsumer<RpmaConnCfg> setter, ToIntFunction<RpmaConnCfg> getter, int initial) {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            assertThat(getter.applyAsInt(cfg)).isEqualTo(initial);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void keepsWhatIsSet(
            String name,
            ObjIntConsumer<RpmaConnCfg> setter,
            ToIntFunction<RpmaConnCfg> getter,
            int initial,
            int least) {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            for (int value : new int[] {least, least + 1, 4096, Integer.MAX_VALUE}) {
                setter.accept(cfg, value);
                assertThat(getter.applyAsInt(cfg)).isEqualTo(value);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void refusesTooLittle(
            String name,
            ObjIntConsumer<RpmaConnCfg> setter,
            ToIntFunction<RpmaConnCfg> getter,
            int initial,
            int least,
            String words) {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            for (int value : new int[] {least - 1, -1, -2, Integer.MIN_VALUE}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> setter.accept(cfg, value))
                        .withMessageContaining(words)
                        .withMessageContaining(Integer.toString(value));
            }
            assertThat(getter.applyAsInt(cfg)).isEqualTo(initial);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("properties")
    void isOfNoUseWhenClosed(
            String name, ObjIntConsumer<RpmaConnCfg> setter, ToIntFunction<RpmaConnCfg> getter, int initial) {
        RpmaConnCfg cfg = RpmaConnCfg.create();
        cfg.close();
        for (ThrowingCallable use :
                new ThrowingCallable[] {() -> setter.accept(cfg, initial), () -> getter.applyAsInt(cfg)}) {
            assertThatIllegalStateException().isThrownBy(use).withMessageContaining(cfg.object() + " is closed");
        }
    }

    @Test
    void theSharedChannelAndQueue() {
        RpmaConnCfg cfg = RpmaConnCfg.create();
        assertThat(cfg.getComplChannel()).isFalse();
        assertThat(cfg.setComplChannel(true).getComplChannel()).isTrue();
        assertThat(cfg.setComplChannel(false).getComplChannel()).isFalse();
        assertThat(cfg.getSrq()).isEmpty();
        assertThatNullPointerException().isThrownBy(() -> cfg.setSrq(null));
        assertThat(cfg.getSrq()).isEmpty();
        cfg.close();
        for (ThrowingCallable use :
                new ThrowingCallable[] {cfg::getSrq, cfg::getComplChannel, () -> cfg.setComplChannel(true)}) {
            assertThatIllegalStateException().isThrownBy(use).withMessageContaining(cfg.object() + " is closed");
        }
    }

    @Test
    void settersCanBeChained() {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            assertThat(cfg.setTimeout(1)
                            .setCqSize(2)
                            .setSqSize(3)
                            .setRqSize(4)
                            .setRcqSize(5)
                            .setComplChannel(true))
                    .isSameAs(cfg);
        }
    }

    @Test
    void closesOnce() {
        RpmaConnCfg cfg = RpmaConnCfg.create();
        cfg.close();
        assertThatCode(cfg::close).doesNotThrowAnyException();
    }

    @Test
    void isNotTheObjectThatTakesItsPlace() {
        RpmaConnCfg closed = RpmaConnCfg.create();
        closed.close();
        try (RpmaConnCfg next = RpmaConnCfg.create().setCqSize(77)) {
            assertThatIllegalStateException().isThrownBy(closed::getCqSize);
            assertThatIllegalStateException().isThrownBy(() -> closed.setCqSize(1));
            closed.close();
            assertThat(next.getCqSize()).isEqualTo(77);
        }
    }

    @Test
    void aRequestUsesTheDefaultsOrAnOpenConfiguration() {
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(null, null)) {
            assertThat(use.handle()).isZero();
            assertThat(use.srq()).isNull();
        }
        RpmaConnCfg cfg = RpmaConnCfg.create();
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(cfg, null)) {
            assertThat(use.handle()).isPositive();
        }
        cfg.close();
        assertThatIllegalStateException().isThrownBy(() -> RpmaConnCfg.use(cfg, null));
    }

    @Test
    void manyCanBeOpen() {
        int count = 5000;
        RpmaConnCfg[] cfgs = new RpmaConnCfg[count];
        for (int i = 0; i < count; i++) {
            cfgs[i] = RpmaConnCfg.create().setCqSize(i + 1);
        }
        for (int i = 0; i < count; i++) {
            assertThat(cfgs[i].getCqSize()).isEqualTo(i + 1);
            cfgs[i].close();
        }
    }
}
