// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A report as a readable table. */
public final class Table {
    private static final String NOTHING = "";
    private static final String DIFFERENCE = "Java - C";

    /**
     * The percentiles that the table shows, and {@link #NOTHING} for results that are no percentiles. The report's file
     * has all percentiles.
     */
    private static final Set<String> SHOWN = Set.of(NOTHING, "p50", "p99");

    private final List<List<String>> rows = new ArrayList<>();

    private Table() {}

    /** Returns the text of a report: the medians of the measured programs side by side, and the targets. */
    public static String of(Report report) {
        Machine machine = report.machine();
        return String.join(
                "\n",
                report.suite() + ", " + machine.date(),
                machine.cpu() + ", " + machine.kernel(),
                machine.jdk() + ", librpma " + machine.librpma(),
                "",
                (hasThreads(report) ? byThreads(report) : results(report)).text(),
                ofTargets(report.targets()));
    }

    private static Table results(Report report) {
        Set<Language> languages = report.results().stream()
                .map(Result::language)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Language.class)));
        Table table = new Table();
        List<String> header = new ArrayList<>(List.of("", "unit"));
        languages.forEach(language -> header.add(language.title()));
        header.addAll(List.of(DIFFERENCE, "Java / C"));
        table.rows.add(header);
        Map<List<Object>, Map<Language, Result>> measured = new LinkedHashMap<>();
        for (Result result : report.results()) {
            if (!SHOWN.contains(result.params().getOrDefault("value", NOTHING))) {
                continue;
            }
            measured.computeIfAbsent(
                            List.of(result.name(), result.params(), result.unit()),
                            key -> new EnumMap<>(Language.class))
                    .put(result.language(), result);
        }
        for (Map<Language, Result> byLanguage : measured.values()) {
            Result any = byLanguage.values().iterator().next();
            Result c = byLanguage.get(Language.C);
            Result java = byLanguage.get(Language.JAVA);
            List<String> row = new ArrayList<>(List.of(title(any), any.unit()));
            languages.forEach(language -> row.add(median(byLanguage.get(language))));
            row.add(difference(c, java));
            row.add(c == null || java == null ? NOTHING : number(java.over(c)));
            table.rows.add(row);
        }
        return table;
    }

    private static boolean hasThreads(Report report) {
        return report.results().stream().anyMatch(result -> result.params().containsKey(Result.THREADS));
    }

    /**
     * The table of a report whose results all have a number of threads. A cell is empty if the operation was not
     * measured with this number. The report's file has the control too.
     */
    private static Table byThreads(Report report) {
        Map<List<String>, List<Result>> byRow = report.results().stream()
                .collect(Collectors.groupingBy(
                        result -> List.of(title(result), result.unit()), LinkedHashMap::new, Collectors.toList()));
        List<String> numbers =
                report.results().stream().map(Table::threads).distinct().toList();
        List<String> groups = new ArrayList<>(List.of(NOTHING, NOTHING));
        List<String> header = new ArrayList<>(List.of(NOTHING, "unit"));
        for (String threads : numbers) {
            groups.addAll(List.of(Result.THREADS + "=" + threads, NOTHING, NOTHING));
            header.addAll(List.of(Language.C.title(), Language.JAVA.title(), DIFFERENCE));
        }
        Table table = new Table();
        table.rows.addAll(List.of(groups, header));
        byRow.forEach((title, results) -> {
            List<String> row = new ArrayList<>(title);
            for (String threads : numbers) {
                Map<Language, Result> byLanguage = results.stream()
                        .filter(result -> threads(result).equals(threads))
                        .collect(Collectors.toMap(Result::language, Function.identity()));
                Result c = byLanguage.get(Language.C);
                Result java = byLanguage.get(Language.JAVA);
                row.addAll(List.of(median(c), median(java), difference(c, java)));
            }
            table.rows.add(row);
        });
        return table;
    }

    private static String threads(Result result) {
        return result.params().get(Result.THREADS);
    }

    private static String title(Result result) {
        String params = new TreeMap<>(result.params())
                .entrySet().stream()
                        .filter(param -> !param.getKey().equals(Result.THREADS))
                        .map(param -> " " + param.getKey() + "=" + param.getValue())
                        .collect(Collectors.joining());
        return result.name() + params;
    }

    /** Returns the text of targets, each with its verdict, and of the numbers of verdicts. */
    static String ofTargets(List<Target> targets) {
        Table table = new Table();
        table.add("target", "unit", "at most", "at least", "value", "C again / C", "");
        for (Target target : targets) {
            String bound = number(target.target());
            boolean most = target.bound() == Target.Bound.AT_MOST;
            table.add(
                    target.what(),
                    target.unit(),
                    most ? bound : NOTHING,
                    most ? NOTHING : bound,
                    number(target.value()),
                    target.control() == null ? NOTHING : number(target.control()),
                    word(target.verdict()));
        }
        return table.text()
                + Stream.of(Target.Verdict.values())
                        .map(verdict ->
                                count(targets, verdict) + " " + verdict.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", ", "", "\n"));
    }

    /** Returns the word of a verdict. A miss is in capitals, because a reader looks for it. */
    private static String word(Target.Verdict verdict) {
        return verdict == Target.Verdict.MISS ? verdict.name() : verdict.name().toLowerCase(Locale.ROOT);
    }

    private static long count(List<Target> targets, Target.Verdict verdict) {
        return targets.stream().filter(target -> target.verdict() == verdict).count();
    }

    private static String difference(Result c, Result java) {
        return c == null || java == null ? NOTHING : number(java.minus(c));
    }

    private static String median(Result result) {
        return result == null ? NOTHING : number(result.median());
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < 1000 ? "%.2f" : "%,.0f", value);
    }

    private void add(String... cells) {
        rows.add(List.of(cells));
    }

    /**
     * Returns the rows as lines. The first two columns, which have words, are aligned to the left, and the others to
     * the right.
     */
    private String text() {
        List<Integer> widths = new ArrayList<>(Collections.nCopies(rows.get(0).size(), 0));
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths.set(i, Math.max(widths.get(i), row.get(i).length()));
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                String padding = " ".repeat(widths.get(i) - row.get(i).length());
                line.append(i < 2 ? row.get(i) + padding : padding + row.get(i)).append("  ");
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
