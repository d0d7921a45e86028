// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
import io.rpma.support.LostException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** A side that has no connection. */
    private static End unconnected(RpmaMemory memory) {
        return new End(memory, 0) {
            @Override
            int take(RpmaCompletions into, long nanos) {
                return 0;
            }

            @Override
            boolean postAnswer() {
                return true;
            }

            @Override
            boolean postMessage(int length) {
                return true;
            }

            @Override
            public void close() {}
        };
    }

    @ParameterizedTest
    @CsvSource({
        "1, REM_INV_REQ_ERR, RefusedException",
        "1, LOC_QP_OP_ERR, RefusedException",
        "1, REM_ACCESS_ERR, IOException",
        "1, RETRY_EXC_ERR, IOException",
        "2, REM_INV_REQ_ERR, IOException"
    })
    void aResultOfTheOperationItselfCanBeARefusal(long context, RpmaWcStatus status, String exception) {
        try (RpmaMemory memory = RpmaMemory.allocate(Answer.MEMORY);
                End end = unconnected(memory)) {
            assertThatThrownBy(() -> end.checkSuccess(context, status))
                    .extracting(e -> e.getClass().getSimpleName())
                    .isEqualTo(exception);
            end.accessCanBeRefused();
            assertThatExceptionOfType(End.RefusedException.class)
                    .isThrownBy(() -> end.checkSuccess(End.OPERATION, RpmaWcStatus.REM_ACCESS_ERR));
        }
    }

    @Test
    void aLostSideIsNotAwaitedForEachOperation() throws Exception {
        result(true, null);
        LostException silence = new LostException("host", "no answer");
        result(true, silence);
        result(true, silence);
        assertThat(result(true, null)).isSameAs(Check.Result.FAILED);
        assertThat(seen.get(3).reason()).isEqualTo("not tried: the other side is lost");
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
