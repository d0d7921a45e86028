package io.rpma.bench.device;

import java.util.ArrayList;
import java.util.List;

/**
 * Which processors programs are bound to, by {@code taskset(1)}.
 *
 * @param client that of each client, or null for any
 * @param target that of the target, or null for any
 */
record Placement(Integer client, Integer target) {
    /** Wherever the kernel puts them. */
    static final Placement ANY = new Placement(null, null);

    /** The command line that starts a client where it belongs. */
    List<String> client(List<String> command) {
        return bound(client, command);
    }

    /** The command line that starts the target where it belongs. */
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
