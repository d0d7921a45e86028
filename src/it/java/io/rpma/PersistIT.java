// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Making the processor's stores into device DAX persistent. */
@Tag("aarch64")
@Tag("persistent-memory")
class PersistIT {
    private static final int SIZE = 1 << 20;

    private static Path device;

    @BeforeAll
    static void find() {
        TestDevice.address();
        device = TestDevice.pmem();
    }

    private static byte[] random() {
        byte[] bytes = new byte[SIZE];
        new Random().nextBytes(bytes);
        return bytes;
    }

    @Test
    void theContentIsThere() throws IOException {
        byte[] content = random();
        try (RpmaMemory memory = RpmaMemory.map(device, SIZE)) {
            assertTrue(memory.isPersistent());
            memory.buffer().put(content);
            memory.persist();
        }
        try (RpmaMemory memory = RpmaMemory.map(device, SIZE)) {
            assertEquals(ByteBuffer.wrap(content), memory.buffer());
        }
    }

    @Test
    void partsOfAnySizeAtAnyOffset() throws IOException {
        byte[] content = random();
        try (RpmaMemory memory = RpmaMemory.map(device, SIZE)) {
            memory.buffer().put(content);
            for (int[] part : new int[][] {{0, 0}, {0, 1}, {63, 2}, {1, 64}, {4095, 4097}, {SIZE - 1, 1}, {SIZE, 0}}) {
                memory.persist(part[0], part[1]);
            }
            assertEquals(ByteBuffer.wrap(content), memory.buffer());
        }
    }

    @Test
    void aReadOnlyMappingIsLeftAsItIs() throws IOException {
        byte[] content = random();
        try (RpmaMemory memory = RpmaMemory.map(device, SIZE);
                RpmaMemory readOnly = RpmaMemory.mapReadOnly(device)) {
            memory.buffer().put(content);
            readOnly.persist(0, SIZE);
            assertEquals(ByteBuffer.wrap(content), readOnly.buffer(0, SIZE));
        }
    }

    @Test
    void nothingOutsideOfTheMemoryAndNotWhenClosed() throws IOException {
        RpmaMemory memory = RpmaMemory.map(device, SIZE);
        for (long[] bad : new long[][] {{-1, 1}, {0, -1}, {0, SIZE + 1}, {SIZE, 1}, {Long.MAX_VALUE, 1}}) {
            assertThrows(IndexOutOfBoundsException.class, () -> memory.persist(bad[0], bad[1]));
        }
        memory.close();
        String message =
                assertThrows(IllegalStateException.class, memory::persist).getMessage();
        assertTrue(message.contains("is closed"), message);
    }
}
