// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Repeats noisy measurements. A measurement is repeated as a whole while one of its targets is
 * {@link Target.Verdict#NOISY}, up to three times in all. The quietest of them counts. It is the measurement whose
 * worst control is nearest to 1, so that the choice does not depend on the value in Java.
 */
public final class Repeats {
    private static final int MOST = 3;

    private final LongSupplier clock;
    private long budget;

    /**
     * Makes an object for the measurements of one run.
     *
     * @param budget the time for all repetitions. The last repetition can exceed it.
     */
    public Repeats(Duration budget) {
        this(budget, System::nanoTime);
    }

    Repeats(Duration budget, LongSupplier clock) {
        this.budget = budget.toNanos();
        this.clock = clock;
    }

    /**
     * Carries out a measurement, and repeats it if it is noisy.
     *
     * @param measurement the measurement, with all programs and all rounds
     * @param targets returns the targets of a measurement
     * @return the quietest measurement
     */
    public <T> T quietest(Callable<T> measurement, Function<T, List<Target>> targets) throws Exception {
        T quietest = measurement.call();
        for (int i = 1; i < MOST && isNoisy(targets.apply(quietest)) && budget > 0; i++) {
            long start = clock.getAsLong();
            T repeated = measurement.call();
            budget -= clock.getAsLong() - start;
            if (noise(targets.apply(repeated)) < noise(targets.apply(quietest))) {
                quietest = repeated;
            }
        }
        return quietest;
    }

    private static boolean isNoisy(List<Target> targets) {
        return targets.stream().anyMatch(target -> target.verdict() == Target.Verdict.NOISY);
    }

    private static double noise(List<Target> targets) {
        return targets.stream().mapToDouble(Target::noise).max().orElse(0);
    }
}
