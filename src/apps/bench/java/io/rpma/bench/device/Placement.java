// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.util.ArrayList;
import java.util.List;

/**
 * The processors to which {@code taskset(1)} binds the programs.
 *
 * @param client the processor of each client, or null for any
 * @param target the processor of the target, or null for any
 */
record Placement(Integer client, Integer target) {
    /** The kernel chooses the processors. */
    static final Placement ANY = new Placement(null, null);

    /** Returns the command line that starts a client on its processor. */
    List<String> client(List<String> command) {
        return bound(client, command);
    }

    /** Returns the command line that starts the target on its processor. */
    List<String> target(List<String> command) {
        return bound(target, command);
    }

    private static List<String> bound(Integer cpu, List<String> command) {
        if (cpu == null) {
            return command;
        }
        List<String> bound = new ArrayList<>(List.of("taskset", "--cpu-list", cpu.toString()));
        bound.addAll(command);
        return bound;
    }
}
