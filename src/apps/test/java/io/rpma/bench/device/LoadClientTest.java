// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that every client in Java has: {@code load}. */
class LoadClientTest {
    private static final long TIME = 700;

    /** Reports the size of each operation as its time. */
    private static final class Client extends LoadClient {
        @Override
        long run(Load load, long[] samples) {
            if (samples != null) {
                for (int i = 0; i < load.count(); i++) {
                    samples[i] = load.size();
                }
            }
            return TIME;
        }
    }

    @TempDir
    private Path directory;

    private final LoadClient client = new Client();

    @Test
    void answersALoadByItsTime() throws Exception {
        assertThat(client.run("load write 8 16 wait 5".split(" "))).isEqualTo("700");
    }

    @Test
    void writesTheTimesOfTheOperations() throws Exception {
        Path file = directory.resolve("samples");
        assertThat(client.run(("load write 8 1 wait 5 " + file).split(" "))).isEqualTo("700");
        assertThat(Samples.read(file).getTotalCount()).isEqualTo(5);
        assertThat(Samples.read(file).getMaxValue()).isEqualTo(8);
    }

    @Test
    void refusesOtherCommands() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.run(new String[] {"connect", "10"}))
                .withMessageContaining("no such command: connect 10");
    }
}
