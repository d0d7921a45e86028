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
 * @param pass whether the value meets the target
 */
public record Target(String what, Bound bound, double target, double value, String unit, boolean pass) {

    /** The kinds of targets. */
    public enum Bound {
        /** The target is the maximum of the value. */
        @SerializedName("at most")
        AT_MOST,
        /** The target is the minimum of the value. */
        @SerializedName("at least")
        AT_LEAST
    }

    /** Compares a value with a maximum. */
    public static Target atMost(String what, double most, double value, String unit) {
        return new Target(what, Bound.AT_MOST, most, value, unit, value <= most);
    }

    /** Compares a value with a minimum. */
    public static Target atLeast(String what, double least, double value, String unit) {
        return new Target(what, Bound.AT_LEAST, least, value, unit, value >= least);
    }
}
