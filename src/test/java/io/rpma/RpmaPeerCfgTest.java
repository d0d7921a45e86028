// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.ByteBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaPeerCfgTest {
    @Test
    void startsWithoutDirectWrite() {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create()) {
            assertThat(cfg.getDirectWriteToPmem()).isFalse();
            assertThat(cfg.getDescriptor()).containsExactly(0);
        }
    }

    @Test
    void keepsWhatIsSet() {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create()) {
            assertThat(cfg.setDirectWriteToPmem(true)).isSameAs(cfg);
            assertThat(cfg.getDirectWriteToPmem()).isTrue();
            assertThat(cfg.getDescriptor()).containsExactly(1);
            assertThat(cfg.setDirectWriteToPmem(false).getDirectWriteToPmem()).isFalse();
        }
    }

    @Test
    void sizeOfTheDescriptor() {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create()) {
            assertThat(cfg.getDescriptorSize()).isEqualTo(RpmaPeerCfg.DESCRIPTOR_SIZE);
            assertThat(cfg.getDescriptor()).hasSize(RpmaPeerCfg.DESCRIPTOR_SIZE);
        }
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, 1, 2, 127, -128, -1})
    void readsItsDescriptor(byte descriptor) {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(new byte[] {descriptor})) {
            assertThat(cfg.getDirectWriteToPmem()).isEqualTo(descriptor != 0);
            assertThat(cfg.getDescriptor()).containsExactly(descriptor != 0 ? 1 : 0);
        }
    }

    @Test
    void passesOverWhatFollowsTheDescriptor() {
        ByteBuffer buffer = ByteBuffer.wrap(new byte[] {0, 0, 1, 0, 0}).position(2);
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(buffer);
                RpmaPeerCfg other = RpmaPeerCfg.fromDescriptor(new byte[] {1, 0, 0, 0})) {
            assertThat(cfg.getDirectWriteToPmem()).isTrue();
            assertThat(other.getDirectWriteToPmem()).isTrue();
            assertThat(buffer.position()).isEqualTo(3);
        }
    }

    @Test
    void readsEveryKindOfBuffer() {
        ByteBuffer direct = ByteBuffer.allocateDirect(1).put(0, (byte) 1);
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(direct.asReadOnlyBuffer());
                RpmaPeerCfg other = RpmaPeerCfg.fromDescriptor(
                        ByteBuffer.wrap(new byte[] {0, 1}, 1, 1).slice())) {
            assertThat(cfg.getDirectWriteToPmem()).isTrue();
            assertThat(other.getDirectWriteToPmem()).isTrue();
        }
    }

    @Test
    void refusesTooFewBytes() {
        assertThatIllegalArgumentException().isThrownBy(() -> RpmaPeerCfg.fromDescriptor(new byte[0]));
        ByteBuffer spent = ByteBuffer.wrap(new byte[] {1}).position(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaPeerCfg.fromDescriptor(spent))
                .withMessage(
                        "the descriptor of a peer configuration has 1 byte, here are 0: private data is empty until"
                                + " nextEvent() has returned ESTABLISHED");
        assertThat(spent.position()).isEqualTo(1);
    }

    @Test
    void refusesNull() {
        assertThatNullPointerException().isThrownBy(() -> RpmaPeerCfg.fromDescriptor((byte[]) null));
        assertThatNullPointerException().isThrownBy(() -> RpmaPeerCfg.fromDescriptor((ByteBuffer) null));
    }

    @Test
    void isOfNoUseWhenClosed() {
        RpmaPeerCfg cfg = RpmaPeerCfg.create();
        cfg.close();
        assertThatCode(cfg::close).doesNotThrowAnyException();
        for (ThrowingCallable use : new ThrowingCallable[] {
            cfg::getDescriptor, cfg::getDescriptorSize, cfg::getDirectWriteToPmem, () -> cfg.setDirectWriteToPmem(true)
        }) {
            assertThatIllegalStateException().isThrownBy(use).withMessageContaining(cfg.object() + " is closed");
        }
    }
}
