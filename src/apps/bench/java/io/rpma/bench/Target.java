// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import com.google.gson.annotations.SerializedName;

/**
 * A target for a measured value.
 *
 * @param what the name of the value, for example {@code write: Java - C}
 * @param bound whether the target is a maximum or a minimum
 * @param target the maximum or minimum
 * @param value the measured value
 * @param unit the unit of the target and the value: {@code ns}, {@code B}, or empty for a ratio
 * @param control the ratio of {@link Language#CONTROL} to {@link Language#C} in the measurement of the value, or null
 *     if the measurement has no control
 * @param verdict whether the value meets the target
 */
public record Target(
        String what, Bound bound, double target, double value, String unit, Double control, Verdict verdict) {
    /** The range of the control of a quiet measurement. */
    private static final double LEAST_CONTROL = 0.95;

    private static final double MOST_CONTROL = 1.05;

    /** The kinds of targets. */
    public enum Bound {
        /** The target is the maximum of the value. */
        @SerializedName("at most")
        AT_MOST,
        /** The target is the minimum of the value. */
        @SerializedName("at least")
        AT_LEAST
    }

    /** The answers to the question whether a value meets its target. */
    public enum Verdict {
        /** The value meets the target. */
        @SerializedName("pass")
        PASS,
        /** The value does not meet the target. */
        @SerializedName("miss")
        MISS,
        /** The two measurements of C differ too much for an answer. */
        @SerializedName("noisy")
        NOISY
    }

    /** Compares a value with a maximum. */
    public static Target atMost(String what, double most, double value, String unit) {
        return new Target(what, Bound.AT_MOST, most, value, unit, null, verdict(value <= most));
    }

    /** Compares a value with a minimum. */
    public static Target atLeast(String what, double least, double value, String unit) {
        return new Target(what, Bound.AT_LEAST, least, value, unit, null, verdict(value >= least));
    }

    private static Verdict verdict(boolean met) {
        return met ? Verdict.PASS : Verdict.MISS;
    }

    /** Returns this target with a control, which makes it {@link Verdict#NOISY} if it is outside 0.95 to 1.05. */
    public Target withControl(double ratio) {
        return new Target(what, bound, target, value, unit, ratio, isQuiet(ratio) ? verdict : Verdict.NOISY);
    }

    /** Returns the distance of the control from 1, or 0 if there is no control. */
    double noise() {
        return control == null ? 0 : Math.abs(control - 1);
    }

    private static boolean isQuiet(double control) {
        return control >= LEAST_CONTROL && control <= MOST_CONTROL;
    }
}
