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
        Posts posts = Posts.of(library());
        boolean flushIsNative = RpmaDevice.local(TestDevice.address()).isFlushNative();
        assertThat(posts.opcodes.get(0)).isEqualTo(flushIsNative ? "FLUSH" : "RDMA_READ");
        assertThat(posts.lines.get(0))
                .isEqualTo(
                        flushIsNative
                                ? "native flush " + posts.at(FLUSH_OFFSET) + " " + FLUSH_LENGTH + " range"
                                : emulatedFlush(posts));
    }

    /** {@link RpmaConn#atomicWrite} documents the exception: librpma sets no fence for a native atomic write. */
    @Test
    void onlyAnEmulatedAtomicWriteWaitsForAnEmulatedFlush() throws InterruptedException {
        Posts posts = Posts.of(library().environment("HIDE_NATIVE_FLUSH", "true"));
        boolean writeIsNative = posts.opcodes.get(1).equals("ATOMIC_WRITE");
        String write = posts.at(WRITE_OFFSET) + " 8";
        assertThat(posts.lines)
                .containsExactly(
                        emulatedFlush(posts),
                        writeIsNative ? "native atomic write " + write : "write " + write + " fence");
    }

    private static String emulatedFlush(Posts posts) {
        return "read " + posts.at(FLUSH_OFFSET) + " 8";
    }

    private static Jvm library() {
        return Jvm.likeThis().options(TestDevice.portsOption(1)).preload(System.getProperty("rpma.test.posts"));
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

        static Posts of(Jvm jvm) throws InterruptedException {
            Jvm.Finished finished = jvm.run(
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
