// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files with the times that clients measure. */
class SamplesTest {
    @TempDir
    private Path directory;

    @Test
    void areReadAsTheyWereWritten() throws IOException {
        Path file = directory.resolve("samples");
        Samples.write(new long[] {100, 0, 300}, file);
        Histogram times = Samples.read(file);
        assertThat(times.getTotalCount()).isEqualTo(3);
        assertThat(times.getValueAtPercentile(50)).isEqualTo(100);
        assertThat(times.getMaxValue()).isEqualTo(300);
    }

    @Test
    void refusesWhatAreNoTimes() throws IOException {
        Path file = directory.resolve("samples");
        Files.write(file, new byte[0]);
        assertThatIOException().isThrownBy(() -> Samples.read(file)).withMessageContaining("0 bytes");
        Files.write(file, new byte[9]);
        assertThatIOException().isThrownBy(() -> Samples.read(file)).withMessageContaining("9 bytes");
        Samples.write(new long[] {1, -1}, file);
        assertThatIOException().isThrownBy(() -> Samples.read(file)).withMessageContaining("-1 ns");
    }
}
