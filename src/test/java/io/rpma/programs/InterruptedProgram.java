// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

/** Loads the library in a thread that is interrupted. */
public final class InterruptedProgram {
    private InterruptedProgram() {}

    /** Prints whether the thread is still interrupted. */
    public static void main(String[] arguments) {
        Thread.currentThread().interrupt();
        LoadProgram.main(arguments);
        System.out.println("interrupted: " + Thread.interrupted());
    }
}
