// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.bench.Language;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A measurement of one connection: an operation and its conditions.
 *
 * @param operation the operation
 * @param size the size of each operation in bytes
 * @param depth the number of operations under way; with 1, the time of each operation is measured, otherwise the time
 *     of all operations
 * @param completions the way to take completions
 */
record Point(Operation operation, long size, int depth, Completions completions) {
    boolean isRoundTrip() {
        return depth == 1;
    }

    /**
     * Returns the programs that can be measured. Only librpma's waits include bare JNI, which is a part of Java's
     * additional time there.
     */
    List<Language> languages() {
        List<Language> languages = new ArrayList<>(Language.EVERYWHERE);
        if (completions == Completions.WAIT && operation.isRpma()) {
            languages.add(Language.BARE);
        }
        return languages;
    }

    /** Returns the parameters that distinguish the results. */
    Map<String, String> params() {
        Map<String, String> params = new LinkedHashMap<>();
        params.put("bytes", Long.toString(size));
        params.put("completions", completions.command());
        if (!isRoundTrip()) {
            params.put("depth", Integer.toString(depth));
        }
        return params;
    }

    /** Returns the command by which a client runs this number of operations. */
    String command(long count) {
        return String.join(
                " ",
                "load",
                operation.command(),
                Long.toString(size),
                Integer.toString(depth),
                completions.command(),
                Long.toString(count));
    }

    @Override
    public String toString() {
        return operation.command() + " " + params();
    }
}
