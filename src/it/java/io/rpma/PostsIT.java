// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.PostsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Posts;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The work requests that librpma posts for flushes and atomic writes, native and emulated. */
@Tag("processes")
@Tag("unsanitized")
class PostsIT {
    private static final int FLUSH_OFFSET = 16;
    private static final int FLUSH_LENGTH = 24;
    private static final int WRITE_OFFSET = 8;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    /** {@link RpmaConn#flush} promises the bytes of its range, and no more. */
    @Test
    void aFlushPostsItsRangeAlone() throws InterruptedException {
        Output posts = Output.withoutCapabilities(0);
        boolean flushIsNative = RpmaDevice.local(TestDevice.address()).isFlushNative();
        assertThat(posts.opcodes.get(0)).isEqualTo(flushIsNative ? "FLUSH" : "RDMA_READ");
        String nativeFlush = "native flush " + posts.at(FLUSH_OFFSET) + " " + FLUSH_LENGTH + " range";
        assertThat(posts.lines).hasSize(2).startsWith(flushIsNative ? nativeFlush : emulatedFlush(posts));
    }

    @Test
    void anEmulatedAtomicWriteWaitsForAnEmulatedFlush() throws InterruptedException {
        Output posts = Output.withoutCapabilities(Posts.FLUSH | Posts.ATOMIC_WRITE);
        assertThat(posts.opcodes).containsExactly("RDMA_READ", "RDMA_WRITE");
        assertThat(posts.lines).containsExactly(emulatedFlush(posts), emulatedAtomicWrite(posts));
    }

    /** {@link RpmaConn#atomicWrite} documents this exception. */
    @Test
    void aNativeAtomicWriteDoesNotWaitForAnEmulatedFlush() throws InterruptedException {
        Output posts = Output.withoutCapabilities(Posts.FLUSH);
        boolean writeIsNative = RpmaDevice.local(TestDevice.address()).isAtomicWriteNative();
        assertThat(posts.opcodes).containsExactly("RDMA_READ", writeIsNative ? "ATOMIC_WRITE" : "RDMA_WRITE");
        String nativeAtomicWrite = "native atomic write " + posts.at(WRITE_OFFSET) + " 8";
        assertThat(posts.lines)
                .containsExactly(emulatedFlush(posts), writeIsNative ? nativeAtomicWrite : emulatedAtomicWrite(posts));
    }

    private static String emulatedFlush(Output posts) {
        return "read " + posts.at(FLUSH_OFFSET) + " 8";
    }

    private static String emulatedAtomicWrite(Output posts) {
        return "write " + posts.at(WRITE_OFFSET) + " 8 fence";
    }

    /** The output of {@link PostsProgram}. */
    private static final class Output {
        private final long region;
        private final List<String> opcodes;
        private final List<String> lines;

        private Output(Jvm.Finished finished) {
            region = Long.decode(after("region ", finished.out()).get(0));
            opcodes = after("opcode ", finished.out());
            lines = Posts.of(finished);
        }

        static Output withoutCapabilities(long hidden) throws InterruptedException {
            Jvm jvm = Jvm.likeThis().options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(1));
            Jvm.Finished finished = Posts.print(jvm, hidden)
                    .run(
                            PostsProgram.class,
                            Integer.toString(FLUSH_OFFSET),
                            Integer.toString(FLUSH_LENGTH),
                            Integer.toString(WRITE_OFFSET));
            assertThat(finished.status()).as(finished.toString()).isZero();
            return new Output(finished);
        }

        String at(int offset) {
            return String.format("%#x", region + offset);
        }

        private static List<String> after(String prefix, String output) {
            return output.lines()
                    .filter(line -> line.startsWith(prefix))
                    .map(line -> line.substring(prefix.length()))
                    .collect(Collectors.toList());
        }
    }
}
