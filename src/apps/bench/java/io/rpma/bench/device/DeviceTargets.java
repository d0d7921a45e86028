// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.bench.Language;
import io.rpma.bench.Result;
import io.rpma.bench.Target;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The targets of the results on a device. */
final class DeviceTargets {
    private static final double P50 = 1.05;
    private static final double P99 = 1.2;
    private static final double THROUGHPUT = 0.97;
    /** On soft-RoCE a chain has the throughput of single writes, in C too: see docs/benchmarks.md. */
    private static final double CHAINED = 0.97;

    private static final double IDS_LOOP = 1.05;
    private static final double STARTUP = 1.2;
    /** For each connection, Java reads cache lines that C does not read. */
    private static final double SCALE = 1.1;

    /** An inline write is not slower than another write, apart from the noise. */
    private static final double INLINE = 1.05;

    private final Map<Map<String, String>, Map<Language, Result>> measured = new LinkedHashMap<>();

    private DeviceTargets(List<Result> results) {
        for (Result result : results) {
            Map<String, String> key = new TreeMap<>(result.params());
            key.put("name", result.name());
            key.put("unit", result.unit());
            measured.computeIfAbsent(key, added -> new EnumMap<>(Language.class))
                    .put(result.language(), result);
        }
    }

    /** Compares results with the targets. */
    static List<Target> of(List<Result> results) {
        DeviceTargets all = new DeviceTargets(results);
        List<Target> targets = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            // the library has no part in TCP
            if (operation != Operation.TCP) {
                all.addOperation(operation.command(), targets);
            }
        }
        all.addInline(targets);
        all.addChained(targets);
        all.addScale(targets);
        all.addLoop(targets);
        all.addIdsLoop(targets);
        all.addStartup(targets);
        return targets;
    }

    private void addOperation(String operation, List<Target> targets) {
        measured.forEach((key, byLanguage) -> {
            if (!key.get("name").equals(operation)) {
                return;
            }
            double ratio = over(byLanguage, Language.JAVA);
            double control = over(byLanguage, Language.CONTROL);
            String title = title(key, byLanguage);
            if (key.containsKey("depth")) {
                targets.add(Target.atLeast(title, THROUGHPUT, ratio, "").withControl(control));
            } else if (key.get("value").equals("p50")) {
                targets.add(Target.atMost(title, P50, ratio, "").withControl(control));
            } else if (key.get("value").equals("p99")) {
                targets.add(Target.atMost(title, P99, ratio, "").withControl(control));
            }
        });
    }

    /** Returns the name of a target. It includes the ratio of bare JNI to C if bare JNI was measured. */
    private static String title(Map<String, String> key, Map<Language, Result> byLanguage) {
        String bare = byLanguage.containsKey(Language.BARE)
                ? String.format(Locale.ROOT, " (bare JNI / C %.2f)", over(byLanguage, Language.BARE))
                : "";
        String what = key.containsKey("depth") ? "depth " + key.get("depth") + " ops/s" : key.get("value");
        return String.format(
                Locale.ROOT,
                "%s %s B, %s, %s: Java / C%s",
                key.get("name"),
                key.get("bytes"),
                key.get("completions"),
                what,
                bare);
    }

    /**
     * Adds targets for the round trip of an inline write, divided by the round trip of a write from a memory region.
     */
    private void addInline(List<Target> targets) {
        measured.forEach((key, inline) -> {
            if (!key.get("name").equals(Operation.RDMA_WRITE_INLINE.command()) || !"p50".equals(key.get("value"))) {
                return;
            }
            Map<String, String> other = new TreeMap<>(key);
            other.put("name", Operation.RDMA_WRITE.command());
            Map<Language, Result> registered = measured.get(other);
            if (registered == null) {
                return;
            }
            double java = growth(registered, inline, Language.JAVA);
            double c = growth(registered, inline, Language.C);
            double control = growth(registered, inline, Language.CONTROL) / c;
            String title = String.format(
                    Locale.ROOT, "rdma-write %s B, p50: inline / not inline, Java (C: %.2f)", key.get("bytes"), c);
            targets.add(Target.atMost(title, INLINE, java, "").withControl(control));
        });
    }

    /**
     * Adds targets for the throughput of chained writes in Java, divided by the throughput of librpma's writes in C.
     */
    private void addChained(List<Target> targets) {
        measured.forEach((key, chained) -> {
            if (!key.get("name").equals(Operation.RDMA_WRITE_CHAINED.command())) {
                return;
            }
            Map<String, String> other = new TreeMap<>(key);
            other.put("name", Operation.WRITE.command());
            Map<Language, Result> single = measured.get(other);
            if (single == null) {
                return;
            }
            double c = growth(single, chained, Language.C);
            double java = chained.get(Language.JAVA).over(single.get(Language.C));
            double control = growth(single, chained, Language.CONTROL) / c;
            String title = String.format(
                    Locale.ROOT,
                    "write %s B, depth %s ops/s: chained in Java / librpma in C (C chained: %.2f)",
                    key.get("bytes"),
                    key.get("depth"),
                    c);
            targets.add(Target.atLeast(title, CHAINED, java, "").withControl(control));
        });
    }

    /** Adds targets for the time of a write on many connections in turn, divided by its time on one connection. */
    private void addScale(List<Target> targets) {
        Map<Integer, Map<Language, Result>> byConnections = new TreeMap<>();
        measured.forEach((key, byLanguage) -> {
            if (key.get("name").equals("spread write") && key.get("value").equals("p50")) {
                byConnections.put(Integer.valueOf(key.get("connections")), byLanguage);
            }
        });
        Map<Language, Result> one = byConnections.remove(1);
        if (one == null) {
            return;
        }
        byConnections.forEach((connections, many) -> {
            String title = String.format(
                    Locale.ROOT,
                    "write on each of %d connections in turn, p50: Java / C (divided by one connection: %.2f, C %.2f)",
                    connections,
                    growth(one, many, Language.JAVA),
                    growth(one, many, Language.C));
            targets.add(Target.atMost(title, SCALE, over(many, Language.JAVA), "")
                    .withControl(over(many, Language.CONTROL)));
        });
    }

    private static double growth(Map<Language, Result> from, Map<Language, Result> to, Language language) {
        return to.get(language).over(from.get(language));
    }

    /** Adds targets for the throughput of connections that one event loop serves, divided by the throughput in C. */
    private void addLoop(List<Target> targets) {
        throughput("loop write").forEach((connections, byLanguage) -> {
            String title = "loop over " + connections + " connections, ops/s: Java / C";
            targets.add(Target.atLeast(title, THROUGHPUT, over(byLanguage, Language.JAVA), "")
                    .withControl(over(byLanguage, Language.CONTROL)));
        });
    }

    /** Adds targets for the time of a write on ids that one event loop serves, divided by the time in C. */
    private void addIdsLoop(List<Target> targets) {
        throughput("rdma-loop write").forEach((ids, byLanguage) -> {
            String title = "loop over " + ids + " ids, time of a write: Java / C";
            double java = byLanguage.get(Language.C).over(byLanguage.get(Language.JAVA));
            double control = byLanguage.get(Language.C).over(byLanguage.get(Language.CONTROL));
            targets.add(Target.atMost(title, IDS_LOOP, java, "").withControl(control));
        });
    }

    /** Returns the throughput of a measurement by the numbers of its connections. */
    private Map<Integer, Map<Language, Result>> throughput(String name) {
        Map<Integer, Map<Language, Result>> byConnections = new TreeMap<>();
        measured.forEach((key, byLanguage) -> {
            if (key.get("name").equals(name) && key.get("unit").equals("ops/s")) {
                byConnections.put(Integer.valueOf(key.get("connections")), byLanguage);
            }
        });
        return byConnections;
    }

    private static double over(Map<Language, Result> byLanguage, Language language) {
        return byLanguage.get(language).over(byLanguage.get(Language.C));
    }

    private void addStartup(List<Target> targets) {
        Map<Language, Result> all = phase("all");
        if (all == null) {
            return;
        }
        double jvm = phase("process").get(Language.JAVA).median();
        double c = all.get(Language.C).median();
        double java = all.get(Language.JAVA).median();
        String title = String.format(
                Locale.ROOT, "first write: Java (%.0f ms) / C (%.0f ms) + start of the JVM (%.0f ms)", java, c, jvm);
        targets.add(Target.atMost(title, STARTUP, java / (c + jvm), "").withControl(over(all, Language.CONTROL)));
    }

    private Map<Language, Result> phase(String phase) {
        return measured.get(new TreeMap<>(Map.of("name", "start", "phase", phase, "unit", "ms")));
    }
}
