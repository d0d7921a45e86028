// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.testing.Jvm;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Command;

class ProgramTest {
    /** A program that prints a line and succeeds. */
    @Command(name = "talker")
    static final class Talker extends Program implements Callable<Integer> {
        public static void main(String[] args) {
            System.exit(new Talker().run(args));
        }

        @Override
        public Integer call() {
            System.out.println("done");
            return 0;
        }
    }

    @Test
    void whatIsPrinted() throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        Program.print(new PrintStream(written), "a line");
        assertThat(written).hasToString("a line\n");
    }

    @Test
    void whatCanNotBePrinted() throws IOException {
        try (PrintStream full = new PrintStream(new FileOutputStream("/dev/full"))) {
            assertThatThrownBy(() -> Program.print(full, "a line"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("the standard output can't be written");
        }
    }

    @Test
    void aProgramThatWasHeard() throws InterruptedException {
        Jvm.Finished end = Jvm.likeThis().run(Talker.class);
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out()).isEqualTo("done\n");
    }

    @Test
    void aProgramThatNobodyCouldHear() throws InterruptedException {
        Jvm.Finished end =
                Jvm.likeThis().under("sh", "-c", "exec \"$@\" >/dev/full", "sh").run(Talker.class);
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("talker: the standard output can't be written\n");
    }
}
