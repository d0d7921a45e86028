package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class InlineCopyTest {
    private static byte[] copied(ByteBuffer source) {
        ByteBuffer expected = source.duplicate();
        InlineCopy copy = InlineCopy.of(source, source.remaining());
        assertThat(source).isEqualTo(expected);
        byte[] bytes = new byte[source.remaining()];
        copy.bytes().get(0, bytes);
        return bytes;
    }

    @Test
    void takesTheRemainingBytesOfAnyBuffer() {
        byte[] bytes = {1, 2, 3, 4, 5};
        assertThat(copied(ByteBuffer.wrap(bytes, 1, 3))).containsExactly(2, 3, 4);
        assertThat(copied(ByteBuffer.allocateDirect(5).put(bytes).position(3))).containsExactly(4, 5);
        assertThat(copied(ByteBuffer.wrap(bytes).asReadOnlyBuffer())).isEqualTo(bytes);
        assertThat(copied(ByteBuffer.allocate(0))).isEmpty();
    }

    @Test
    void takesNoMoreThanRemain() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> InlineCopy.of(ByteBuffer.allocate(8), 9));
    }

    @Test
    void growsAndStaysTheThreads() {
        InlineCopy small = InlineCopy.of(ByteBuffer.allocate(1), 1);
        assertThat(InlineCopy.of(ByteBuffer.allocate(256), 256)).isSameAs(small);
        InlineCopy large = InlineCopy.of(ByteBuffer.allocate(5000), 5000);
        assertThat(large).isNotSameAs(small);
        assertThat(InlineCopy.of(ByteBuffer.allocate(10), 10)).isSameAs(large);
    }

    @Test
    void survivesAFileThatWasMadeShorter(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("file");
        try (RpmaMemory memory = RpmaMemory.map(file, 8192)) {
            ByteBuffer lost = memory.buffer(4096, 64);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
            assertThat(Files.size(file)).isZero();
            // the JVM raises it when it next looks, which it does in any call that leaves Java
            assertThatExceptionOfType(InternalError.class).isThrownBy(() -> {
                InlineCopy.of(lost, 64);
                Thread.yield();
            });
        }
    }
}
