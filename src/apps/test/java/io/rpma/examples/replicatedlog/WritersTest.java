// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WritersTest {
    private static final long TIMEOUT_MS = 30_000;

    private static List<Payload> all(Writers writers) throws IOException, InterruptedException {
        List<Payload> all = new ArrayList<>();
        while (!writers.haveEnded()) {
            Payload next = writers.next(TIMEOUT_MS);
            if (next != null) {
                all.add(next);
            }
        }
        return all;
    }

    private static String text(Payload payload) {
        return new String(payload.bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void eachWriterGeneratesItsRecordsInOrder() throws Exception {
        Writers writers = Writers.generating(3, 50, 40);
        assertThat(writers.totalLength()).isEqualTo(3 * 50 * 56);
        List<Payload> all = all(writers);
        assertThat(all).hasSize(150).allMatch(payload -> payload.bytes().length == 40);
        for (int writer = 1; writer <= 3; writer++) {
            int current = writer;
            assertThat(all)
                    .filteredOn(payload -> payload.writer() == current)
                    .extracting(Payload::number)
                    .hasSize(50)
                    .isSorted();
        }
        assertThat(all).extracting(WritersTest::text).contains(Writers.text(2, 17, 40));
        assertThat(Writers.text(2, 17, 40)).isEqualTo("writer 2 record 17 abcdefghijklmnopqrstu");
    }

    @Test
    void theLongestBeginningFits() {
        assertThat(Writers.text(1000, Integer.MAX_VALUE, Writers.LEAST_SIZE)).hasSize(Writers.LEAST_SIZE);
    }

    @Test
    void lines() throws Exception {
        byte[] input = "one\n\nthree \u00e9\r\nlast".getBytes(StandardCharsets.UTF_8);
        List<Payload> all = all(Writers.reading(new ByteArrayInputStream(input)));
        assertThat(all).extracting(WritersTest::text).containsExactly("one", "", "three \u00e9", "last");
        assertThat(all).extracting(Payload::number).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void bytesThatAreNoText() throws Exception {
        List<Payload> all = all(Writers.reading(new ByteArrayInputStream(new byte[] {(byte) 0xff, 0, (byte) 0x80})));
        assertThat(all.get(0).bytes()).containsExactly(0xff, 0, 0x80);
    }

    @Test
    void aLineThatIsTooLong() throws Exception {
        String longest = "x".repeat(LogLayout.MOST_PAYLOAD);
        InputStream input = new ByteArrayInputStream((longest + "\n" + longest + "x").getBytes(StandardCharsets.UTF_8));
        Writers writers = Writers.reading(input);
        assertThat(text(writers.next(TIMEOUT_MS))).isEqualTo(longest);
        assertThatThrownBy(() -> writers.next(TIMEOUT_MS))
                .isInstanceOf(IOException.class)
                .hasMessage("line 2 has 65537 bytes, and a record at most 65536");
        assertThat(writers.haveEnded()).isTrue();
    }
}
