// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

/** The names of objects in messages. */
public final class Name {
    private Name() {}

    /** Returns the text of an object without its facts. */
    public static String name(Object object) {
        return object.toString().replaceAll("\\[.*", "");
    }
}
