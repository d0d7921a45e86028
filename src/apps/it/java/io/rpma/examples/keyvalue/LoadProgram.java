// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

/** Stores values, and checks that all that are acknowledged are there. Arguments: the servers, a number of values, a name. */
public final class LoadProgram {
    private LoadProgram() {}

    /** Runs the program. */
    public static void main(String[] args) throws Exception {
        int values = Integer.parseInt(args[1]);
        try (Writer writer = new Writer(Group.parse(args[0]))) {
            writer.await(values, () -> {});
            writer.stop();
            writer.check();
        }
        System.out.println("load " + args[2] + ": all values are there");
    }
}
