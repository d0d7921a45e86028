// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests waiting for a line of output, and the message if the line does not come. */
class JvmTest {
    private static final String LINE = "no JVM says this";

    @Test
    void theLineThatIsAwaited() throws InterruptedException {
        try (Jvm.Running jvm = Jvm.likeThis().start("--version")) {
            assertThat(jvm.awaitLine("Runtime")).contains("Runtime");
        }
    }

    @Test
    void severalLinesThatAreAwaited() throws InterruptedException {
        try (Jvm.Running jvm = Jvm.likeThis()
                .under("sh", "-c", "echo one 1; echo two; echo one 2; sleep 60")
                .start()) {
            assertThat(jvm.awaitLine("one", 2)).isEqualTo("one 2");
            assertThat(jvm.awaitLine("one", 1)).isEqualTo("one 1");
        }
    }

    @Test
    void tooFewLines() {
        try (Jvm.Running jvm = Jvm.likeThis().under("sh", "-c", "echo one").start()) {
            assertThatThrownBy(() -> jvm.awaitLine("one", 2))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("not 2 lines with 'one' before the end of the JVM with status 0:\n");
        }
    }

    @Test
    void aJvmThatEndsWithoutTheLine() {
        try (Jvm.Running jvm = Jvm.likeThis().start("--version")) {
            assertThatThrownBy(() -> jvm.awaitLine(LINE))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("no line with '" + LINE + "' before the end of the JVM with status 0:\n")
                    .hasMessageContaining("Runtime");
        }
    }

    /** A program that does not end. */
    static final class Endless {
        private static final String BEGIN = "begin";

        private Endless() {}

        public static void main(String[] args) throws InterruptedException {
            System.out.println(BEGIN);
            Thread.currentThread().join();
        }
    }

    @Test
    void aJvmThatDoesNotEnd() {
        try (Jvm.Running jvm = Jvm.likeThis().limit(Duration.ofSeconds(20)).start(Endless.class)) {
            assertThatThrownBy(jvm::awaitEnd)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("a JVM did not end within PT20S:\n")
                    .hasMessageContaining("at " + Endless.class.getName() + ".main(")
                    .hasMessageContaining("Metaspace ");
        }
    }

    /** As JUnit interrupts a test that takes longer than its timeout. */
    @Test
    void aJvmThatDoesNotEndBeforeAnInterruption() throws InterruptedException {
        try (Jvm.Running jvm = Jvm.likeThis().start(Endless.class)) {
            jvm.awaitLine(Endless.BEGIN);
            Thread.currentThread().interrupt();
            assertThatThrownBy(jvm::awaitEnd)
                    .isInstanceOf(InterruptedException.class)
                    .hasMessageStartingWith("a JVM did not end before the interruption:\n" + Endless.BEGIN + "\n")
                    .hasMessageContaining("at " + Endless.class.getName() + ".main(");
        }
    }

    @Test
    void anotherProgramThatDoesNotEnd() throws Exception {
        ProcessBuilder looping = new ProcessBuilder("sh", "-c", "trap 'echo quit; exit' QUIT; while :; do :; done");
        try (Jvm.Running program = new Jvm.Running(looping.start(), Duration.ofMillis(300), false)) {
            assertThatThrownBy(program::awaitEnd)
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("a JVM did not end within PT0.3S:\n");
        }
    }

    @Test
    void aJvmThatFailsWithoutTheLine() {
        try (Jvm.Running jvm = Jvm.likeThis().start("no.such.Program")) {
            assertThatThrownBy(() -> jvm.awaitLine(LINE))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("before the end of the JVM with status 1:\n")
                    .hasMessageContaining("no.such.Program");
        }
    }

    @Test
    void aProcessThatOnlyClosesItsOutput() {
        try (Jvm.Running jvm = Jvm.likeThis()
                .under("sh", "-c", "exec >&-; sleep 600")
                .limit(Duration.ofSeconds(10))
                .start()) {
            assertThatThrownBy(() -> jvm.awaitLine(LINE))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("before the end of the standard output:\n");
        }
    }

    @Test
    void aJvmThatGoesOnWithoutTheLine() {
        try (Jvm.Running jvm = Jvm.likeThis()
                .under("sh", "-c", "sleep 60")
                .limit(Duration.ofMillis(300))
                .start()) {
            assertThatThrownBy(() -> jvm.awaitLine(LINE))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("within PT0.3S:\n");
        }
    }
}
