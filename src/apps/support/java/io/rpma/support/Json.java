// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import com.google.gson.GsonBuilder;

/** The output of {@code --json}. */
public final class Json {
    private Json() {}

    /** Returns a record as text; a component that is null keeps its name. */
    public static String of(Record value) {
        return new GsonBuilder()
                .setPrettyPrinting()
                .serializeNulls()
                .disableHtmlEscaping()
                .create()
                .toJson(value);
    }
}
