// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.support.LostException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a result of the test of a device means. */
class SelftestTest {
    private static final byte[] MESSAGE = {1, 2, 3};

    private final List<Check> seen = new ArrayList<>();
    private final Checks checks = new Checks(seen::add);

    private Check.Result result(boolean required, Exception failure) throws IOException, InterruptedException {
        checks.run("librpma", "operation", required, () -> {
            if (failure instanceof IOException problem) {
                throw problem;
            }
            if (failure instanceof RpmaException refused) {
                throw refused;
            }
        });
        assertThat(checks.done()).isEqualTo(seen);
        return seen.get(seen.size() - 1).result();
    }

    @Test
    void anOperationThatNotAllDevicesHaveMayBeRefused() throws Exception {
        assertThat(result(true, null)).isSameAs(Check.Result.OK);
        assertThat(result(true, new End.RefusedException("refused"))).isSameAs(Check.Result.FAILED);
        assertThat(result(false, new End.RefusedException("refused"))).isSameAs(Check.Result.UNSUPPORTED);
        assertThat(result(false, new IOException("other bytes"))).isSameAs(Check.Result.FAILED);
        assertThat(seen).extracting(Check::reason).containsExactly("", "refused", "refused", "other bytes");
        assertThat(checks.count(Check.Result.FAILED)).isEqualTo(2);
    }

    @Test
    void aCallThatFailsIsNoRefusalOfTheOperation() throws Exception {
        RpmaException failure = catchThrowableOfType(RpmaException.class, () -> RpmaDevice.local("192.0.2.1"));
        assertThat(result(false, failure)).isSameAs(Check.Result.FAILED);
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> End.unlessRefused(() -> {
                    throw failure;
                }));
    }

    @Test
    void theFirstOperationFindsOutWhetherTheOtherSideAnswers() throws Exception {
        LostException silence = new LostException("host", "no answer");
        assertThatExceptionOfType(LostException.class).isThrownBy(() -> result(false, silence));
        assertThat(seen).isEmpty();
        assertThat(result(true, null)).isSameAs(Check.Result.OK);
        assertThat(result(false, silence)).isSameAs(Check.Result.FAILED);
    }

    private static Answer sent(Integer immediate, byte[] data) {
        ByteBuffer buffer = ByteBuffer.allocate(Answer.SLOT);
        int length = Answer.of(immediate, ByteBuffer.wrap(data), MESSAGE).write(buffer);
        return Answer.read(buffer.flip(), length);
    }

    @Test
    void anAnswerHasTheMessageTheImmediateDataAndTheMemory() {
        byte[] data = new byte[Answer.DATA];
        assertThat(sent(7, data).isOf(data)).isTrue();
        data[Answer.DATA - 1] = 1;
        assertThat(sent(7, new byte[Answer.DATA]).isOf(data)).isFalse();
        assertThatCode(() -> End.check(sent(7, data), 7, MESSAGE)).doesNotThrowAnyException();
        assertThatCode(() -> End.check(sent(null, data), null, MESSAGE)).doesNotThrowAnyException();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> End.check(sent(7, data), 8, MESSAGE))
                .withMessageContaining("immediate data 7, and not 8");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> End.check(sent(7, data), 7, new byte[] {1, 2, 4}))
                .withMessageContaining("other bytes");
    }
}
