// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A client in Java that runs loads. {@link ClientProcess} sends its commands, and {@code src/apps/bench/c/client.c}
 * documents them.
 */
abstract class LoadClient {
    /** The number of words of a load without samples. */
    private static final int SHORTEST = 6;

    /** Runs commands until the input ends. */
    final void serve() throws IOException, InterruptedException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ok");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(run(line.split(" ")));
        }
    }

    /** Runs a command and returns the answer. */
    String run(String[] words) throws IOException, InterruptedException {
        if (!words[0].equals("load")) {
            throw new IllegalArgumentException("no such command: " + String.join(" ", words));
        }
        Load load = Load.of(words);
        if (words.length == SHORTEST) {
            return Long.toString(run(load, null));
        }
        long[] samples = Samples.create((int) load.count());
        long time = run(load, samples);
        Samples.write(samples, Path.of(words[SHORTEST]));
        return Long.toString(time);
    }

    /**
     * Runs a load.
     *
     * @param samples gets the time from each completion to the next, or null
     * @return the duration in nanoseconds
     */
    abstract long run(Load load, long[] samples) throws IOException, InterruptedException;
}
