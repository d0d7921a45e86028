package io.rpma.bench;

import com.google.gson.annotations.SerializedName;

/**
 * What a measured value has to be.
 *
 * @param what the value: {@code write: Java - C}
 * @param bound on which side of the target it has to be
 * @param target the most or the least that it may be
 * @param value what it is
 * @param unit of both: {@code ns}, or empty for a ratio
 * @param pass whether it is as it has to be
 */
public record Target(String what, Bound bound, double target, double value, String unit, boolean pass) {

    /** On which side of its target a value has to be. */
    public enum Bound {
        /** The value is no more than the target. */
        @SerializedName("at most")
        AT_MOST,
        /** The value is no less than the target. */
        @SerializedName("at least")
        AT_LEAST
    }

    /** Holds a value against the most that it may be. */
    public static Target atMost(String what, double most, double value, String unit) {
        return new Target(what, Bound.AT_MOST, most, value, unit, value <= most);
    }

    /** Holds a value against the least that it may be. */
    public static Target atLeast(String what, double least, double value, String unit) {
        return new Target(what, Bound.AT_LEAST, least, value, unit, value >= least);
    }
}
