// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The summary of the round trips of {@code ping}. */
class PingTimesTest {
    /** A histogram has ranges of times instead of times. These are at the start and at the end of a range. */
    @ParameterizedTest
    @ValueSource(longs = {1, 40_000, 1_048_576, 1_048_639, 5_000_000_000L, 4_999_999_999L})
    void equalTimes(long nanos) {
        PingTimes times = new PingTimes();
        times.add(nanos);
        times.add(nanos);
        String time = String.format(Locale.ROOT, "%.1f", nanos / 1e3);
        assertThat(times)
                .hasToString("round trip min/avg/max/stddev " + time + "/" + time + "/" + time + "/0.0 us, median "
                        + time + " us");
    }

    @Test
    void differentTimes() {
        PingTimes times = new PingTimes();
        for (long nanos : new long[] {497_900, 1_010_439, 1_039_600, 1_575_400}) {
            times.add(nanos);
        }
        assertThat(times.count()).isEqualTo(4);
        assertThat(times).hasToString("round trip min/avg/max/stddev 497.9/1030.8/1575.4/381.1 us, median 1010.4 us");
    }
}
