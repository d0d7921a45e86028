// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryServerTest {
    private final List<String> notes = new ArrayList<>();

    /** Fails at once, like a call of a broken endpoint. */
    private static String fail() {
        return RpmaDevice.local("192.0.2.1").name();
    }

    @Test
    void aClientThatGivesUpIsNoted() throws Exception {
        String request = MemoryServer.awaitNext(() -> notes.isEmpty() ? fail() : "the next", 30, notes::add);
        assertThat(request).isEqualTo("the next");
        assertThat(notes).hasSize(1).allMatch(note -> note.startsWith("a client is lost: "));
    }

    @Test
    void failuresWithoutEndAreOne() {
        assertThatThrownBy(() -> MemoryServer.awaitNext(MemoryServerTest::fail, 1, notes::add))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("no client could be accepted within 1 s: ");
        // The pauses are 0.1 s, 0.2 s, 0.4 s, and the rest of the second.
        assertThat(notes).hasSizeBetween(2, 5);
    }
}
