package io.rpma.bench;

import com.google.gson.annotations.SerializedName;
import java.util.List;

/** Who was measured. */
public enum Language {
    /** The program in C. */
    @SerializedName("c")
    C("C"),
    /** The same program once more: how far it is from {@link #C} is the noise of the machine. */
    @SerializedName("control")
    CONTROL("C again"),
    /** The same through the library. */
    @SerializedName("java")
    JAVA("Java"),
    /** C called from Java, nothing checked: how far it is from {@link #C} is what any binding in a JVM costs. */
    @SerializedName("bare")
    BARE("bare JNI");

    /** Those that measure everything; {@link #BARE} measures some of it. */
    public static final List<Language> EVERYWHERE = List.of(C, CONTROL, JAVA);

    private final String title;

    Language(String title) {
        this.title = title;
    }

    /** The name in tables and pictures. */
    public String title() {
        return title;
    }
}
