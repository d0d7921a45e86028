package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.PostsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The work requests that librpma posts for flushes and atomic writes, native and emulated. */
@Tag("processes")
@Timeout(120)
class PostsIT {
    /** {@code IB_UVERBS_DEVICE_FLUSH_GLOBAL} and {@code IB_UVERBS_DEVICE_FLUSH_PERSISTENT}. */
    private static final long FLUSH = 1L << 38 | 1L << 39;
    /** {@code IB_UVERBS_DEVICE_ATOMIC_WRITE}. */
    private static final long ATOMIC_WRITE = 1L << 40;

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
        Posts posts = Posts.withoutCapabilities(0);
        boolean flushIsNative = RpmaDevice.local(TestDevice.address()).isFlushNative();
        assertThat(posts.opcodes.get(0)).isEqualTo(flushIsNative ? "FLUSH" : "RDMA_READ");
        String nativeFlush = "native flush " + posts.at(FLUSH_OFFSET) + " " + FLUSH_LENGTH + " range";
        assertThat(posts.lines).hasSize(2).startsWith(flushIsNative ? nativeFlush : emulatedFlush(posts));
    }

    @Test
    void anEmulatedAtomicWriteWaitsForAnEmulatedFlush() throws InterruptedException {
        Posts posts = Posts.withoutCapabilities(FLUSH | ATOMIC_WRITE);
        assertThat(posts.opcodes).containsExactly("RDMA_READ", "RDMA_WRITE");
        assertThat(posts.lines).containsExactly(emulatedFlush(posts), emulatedAtomicWrite(posts));
    }

    /** {@link RpmaConn#atomicWrite} documents this exception. */
    @Test
    void aNativeAtomicWriteDoesNotWaitForAnEmulatedFlush() throws InterruptedException {
        Posts posts = Posts.withoutCapabilities(FLUSH);
        boolean writeIsNative = posts.opcodes.get(1).equals("ATOMIC_WRITE");
        String nativeAtomicWrite = "native atomic write " + posts.at(WRITE_OFFSET) + " 8";
        assertThat(posts.lines)
                .containsExactly(emulatedFlush(posts), writeIsNative ? nativeAtomicWrite : emulatedAtomicWrite(posts));
    }

    private static String emulatedFlush(Posts posts) {
        return "read " + posts.at(FLUSH_OFFSET) + " 8";
    }

    private static String emulatedAtomicWrite(Posts posts) {
        return "write " + posts.at(WRITE_OFFSET) + " 8 fence";
    }

    /** The output of {@link PostsProgram} and of the library that prints posts. */
    private static final class Posts {
        private final long region;
        private final List<String> opcodes;
        private final List<String> lines;

        private Posts(Jvm.Finished finished) {
            region = Long.decode(after("region ", finished.out()).get(0));
            opcodes = after("opcode ", finished.out());
            lines = after("posted ", finished.err());
        }

        static Posts withoutCapabilities(long hidden) throws InterruptedException {
            String library = System.getProperty("rpma.test.posts");
            assertThat(library).as("rpma.test.posts").isNotNull();
            Jvm.Finished finished = Jvm.likeThis()
                    .options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(1))
                    .preload(library)
                    .environment("HIDE_CAPABILITIES", Long.toString(hidden))
                    .run(
                            PostsProgram.class,
                            Integer.toString(FLUSH_OFFSET),
                            Integer.toString(FLUSH_LENGTH),
                            Integer.toString(WRITE_OFFSET));
            assertThat(finished.status()).as(finished.toString()).isZero();
            return new Posts(finished);
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
