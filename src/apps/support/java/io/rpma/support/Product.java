// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

/** The name and the version of the tools. */
public final class Product {
    /** The name of the program in its messages. */
    public static final String NAME = "rpma-java";

    private Product() {}

    /** Returns the version of the jar, or null for classes that are in no jar. */
    public static String version() {
        return Product.class.getPackage().getImplementationVersion();
    }
}
