package io.rpma.bench.device;

import io.rpma.bench.Language;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is measured of one connection: an operation, and how.
 *
 * @param operation which one
 * @param size of each in bytes
 * @param depth how many are under way; with 1 the time of each is measured, else the time of all
 * @param completions how they are taken
 */
record Point(Operation operation, long size, int depth, Completions completions) {
    boolean isRoundTrip() {
        return depth == 1;
    }

    /** Who is measured: of librpma's waits what JNI alone costs, too, because there it is most of what Java adds. */
    List<Language> languages() {
        boolean bare = completions == Completions.WAIT && !operation.isRdmacm();
        return bare ? List.of(Language.values()) : Language.EVERYWHERE;
    }

    /** What the results are told apart by. */
    Map<String, String> params() {
        Map<String, String> params = new LinkedHashMap<>();
        params.put("bytes", Long.toString(size));
        params.put("completions", completions.command());
        if (!isRoundTrip()) {
            params.put("depth", Integer.toString(depth));
        }
        return params;
    }

    /** The command that has a client run so many operations. */
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
