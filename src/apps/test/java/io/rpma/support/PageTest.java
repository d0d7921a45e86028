// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

class PageTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Page page = new Page(new PrintStream(out));

    @Test
    void aShortText() {
        page.row("name  ", "a text");
        assertThat(out).hasToString("name  a text\n");
    }

    @Test
    void aLongTextContinuesBelowItsBeginning() {
        page.row("name  ", "word ".repeat(20));
        assertThat(out).hasToString("name  " + "word ".repeat(14) + "word\n      word word word word word\n");
    }

    @Test
    void aWordThatIsTooLongIsNotBroken() {
        page.row("name  ", "a " + "b".repeat(100) + " c");
        assertThat(out).hasToString("name  a\n      " + "b".repeat(100) + "\n      c\n");
    }

    @Test
    void coloursHaveNoWidth() {
        String word = Ansi.ON.string("@|green word|@");
        page.row("name  ", (word + " ").repeat(16));
        assertThat(out).hasToString("name  " + (word + " ").repeat(14) + word + "\n      " + word + "\n");
    }

    @Test
    void aCommandIsOneLine() {
        page.command(4, "c ".repeat(60));
        assertThat(out).hasToString("    " + "c ".repeat(60) + "\n");
    }
}
