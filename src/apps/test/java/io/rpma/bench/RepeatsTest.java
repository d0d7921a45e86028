// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The repetitions of noisy measurements. */
class RepeatsTest {
    private static final long MEASUREMENT_S = 10;

    private long seconds;

    /** Measures with these controls in turn, and returns the control of the measurement that counts. */
    private double quietest(Repeats repeats, Deque<Double> controls) throws Exception {
        return repeats.quietest(
                () -> {
                    seconds += MEASUREMENT_S;
                    return controls.remove();
                },
                // the value of a noisy measurement does not matter
                control -> List.of(
                        Target.atMost("value", 1, 2, "").withControl(control), Target.atMost("bytes", 0, 0, "B")));
    }

    private Repeats within(long budgetSeconds) {
        return new Repeats(
                Duration.ofSeconds(budgetSeconds),
                () -> Duration.ofSeconds(seconds).toNanos());
    }

    private static Deque<Double> controls(Double... controls) {
        return new ArrayDeque<>(List.of(controls));
    }

    @Test
    void repeatsNoQuietMeasurement() throws Exception {
        Deque<Double> controls = controls(1.04, 1.0);
        assertThat(quietest(within(60), controls)).isEqualTo(1.04);
        assertThat(controls).containsExactly(1.0);
    }

    @Test
    void repeatsUntilAMeasurementIsQuiet() throws Exception {
        Deque<Double> controls = controls(1.3, 0.96, 1.0);
        assertThat(quietest(within(60), controls)).isEqualTo(0.96);
        assertThat(controls).containsExactly(1.0);
    }

    @Test
    void takesTheQuietestOfThree() throws Exception {
        Deque<Double> controls = controls(1.3, 0.9, 1.2, 1.0);
        assertThat(quietest(within(60), controls)).isEqualTo(0.9);
        assertThat(controls).containsExactly(1.0);
    }

    /** The budget is for the repetitions of all measurements of a run. */
    @Test
    void endsRepetitionsWithTheBudget() throws Exception {
        Repeats repeats = within(2 * MEASUREMENT_S + 1);
        assertThat(quietest(repeats, controls(1.3, 1.2, 1.1))).isEqualTo(1.1);
        Deque<Double> controls = controls(1.3, 1.2, 1.1);
        assertThat(quietest(repeats, controls)).isEqualTo(1.2);
        assertThat(controls).containsExactly(1.1);
        assertThat(quietest(repeats, controls)).isEqualTo(1.1);
    }

    @Test
    void fails() {
        assertThatThrownBy(() -> within(60)
                        .quietest(
                                () -> {
                                    throw new IOException("no client");
                                },
                                measured -> List.of()))
                .isInstanceOf(IOException.class)
                .hasMessage("no client");
    }
}
