// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

/** Loads copies of the library that are in different packages. */
public final class PackagesProgram {
    private PackagesProgram() {}

    /** Arguments: the packages. */
    public static void main(String[] packages) throws ReflectiveOperationException {
        for (String copy : packages) {
            System.out.println(copy + ": " + ClassLoadersProgram.load(copy, PackagesProgram.class.getClassLoader()));
        }
    }
}
