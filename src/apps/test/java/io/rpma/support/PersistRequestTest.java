// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rpma.RpmaMemory;
import io.rpma.support.PersistRequest.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PersistRequestTest {
    private static final int SIZE = 4096;

    @ParameterizedTest
    @EnumSource
    void aRequestIsReadAsItWasWritten(Kind kind) {
        ByteBuffer message = ByteBuffer.allocate(PersistRequest.LENGTH);
        PersistRequest request = new PersistRequest(kind, 1L << 40, -2);
        request.put(message);
        assertThat(PersistRequest.get(message)).isEqualTo(request);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 2, Long.MAX_VALUE})
    void anotherMessageIsRefused(long kind) {
        ByteBuffer message = ByteBuffer.allocate(PersistRequest.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        message.putLong(0, kind);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PersistRequest.get(message))
                .withMessage("there is no request " + kind);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, PersistRequest.LENGTH - 1, PersistRequest.LENGTH + 1})
    void aMessageOfAnotherLengthIsRefused(int length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PersistRequest.get(ByteBuffer.allocate(length)))
                .withMessage("a request has 24 bytes, not " + length);
    }

    @Test
    void aCommitStoresANumber() {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            new PersistRequest(Kind.COMMIT, SIZE - Long.BYTES, 0x0102030405060708L).carryOut(memory);
            assertThat(memory.buffer().order(ByteOrder.LITTLE_ENDIAN).getLong(SIZE - Long.BYTES))
                    .isEqualTo(0x0102030405060708L);
        }
    }

    @Test
    void bytesOutsideOfTheMemoryAreRefused() {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            for (PersistRequest request : new PersistRequest[] {
                new PersistRequest(Kind.PERSIST, -1, 1),
                new PersistRequest(Kind.PERSIST, 1, SIZE),
                new PersistRequest(Kind.PERSIST, 0, -1),
                new PersistRequest(Kind.PERSIST, Long.MAX_VALUE, Long.MAX_VALUE),
                new PersistRequest(Kind.COMMIT, SIZE, 1),
                new PersistRequest(Kind.COMMIT, -8, 1),
            }) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> request.carryOut(memory));
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new PersistRequest(Kind.COMMIT, 4, 1).carryOut(memory));
        }
    }
}
