package io.rpma.bench;

import com.google.gson.annotations.SerializedName;

/** Who was measured. */
public enum Language {
    /** The program in C. */
    @SerializedName("c")
    C,
    /** The same program once more: how far it is from {@link #C} is the noise of the machine. */
    @SerializedName("control")
    CONTROL,
    /** The same through the library. */
    @SerializedName("java")
    JAVA
}
