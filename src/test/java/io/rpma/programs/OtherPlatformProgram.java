// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

/** Loads the library as if this were another platform, which the arguments name. */
public final class OtherPlatformProgram {
    private OtherPlatformProgram() {}

    /** Takes the names of the system and of the processor. */
    public static void main(String[] osAndArch) {
        System.setProperty("os.name", osAndArch[0]);
        System.setProperty("os.arch", osAndArch[1]);
        LoadProgram.main(new String[0]);
    }
}
