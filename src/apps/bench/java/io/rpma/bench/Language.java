// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import com.google.gson.annotations.SerializedName;
import java.util.List;

/** The measured programs. */
public enum Language {
    /** The program in C. */
    @SerializedName("c")
    C("C"),
    /** The same C program again: its distance from {@link #C} is the noise of the machine. */
    @SerializedName("control")
    CONTROL("C again"),
    /** The program in Java, with the library. */
    @SerializedName("java")
    JAVA("Java"),
    /** C called from Java without checks: its distance from {@link #C} is the cost of any binding in a JVM. */
    @SerializedName("bare")
    BARE("bare JNI");

    /** The programs of every measurement; some measurements also have {@link #BARE}. */
    public static final List<Language> EVERYWHERE = List.of(C, CONTROL, JAVA);

    private final String title;

    Language(String title) {
        this.title = title;
    }

    /** Returns the name in tables and pictures. */
    public String title() {
        return title;
    }
}
