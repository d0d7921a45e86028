// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/guide/coming-from.md: the classes and members of this library that their columns after the first
 * name exist.
 */
class ComingFromTest {
    private static final Path SOURCES = Path.of("src/main/java");

    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");

    /** A class, or a member of a class. */
    private static final Pattern OF_CLASS = Pattern.compile("([A-Z]\\w*)(?:\\.(\\w+))?(?:\\(.*\\))?");

    /** A method of a class that the cell does not name, or of a variable. */
    private static final Pattern METHOD = Pattern.compile("(?:[a-z]\\w*\\.)?([a-z]\\w*)(?:\\(.*\\))?");

    /** The texts with the form of a method that are none. */
    private static final Set<String> NO_METHODS = Set.of("io.rpma", "false", "long");

    /** Returns the public classes of both packages, and the class of the JDK that the tables name. */
    private static Map<String, Class<?>> classes() throws IOException, ClassNotFoundException {
        Map<String, Class<?>> classes = new TreeMap<>();
        classes.put("Optional", Optional.class);
        for (String directory : List.of("io/rpma", "io/rpma/rdmacm")) {
            for (String name : classNames(SOURCES.resolve(directory))) {
                Class<?> type = Class.forName(
                        directory.replace('/', '.') + '.' + name, false, ComingFromTest.class.getClassLoader());
                if (Modifier.isPublic(type.getModifiers())) {
                    classes.put(name, type);
                }
            }
        }
        return classes;
    }

    private static List<String> classNames(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("[A-Z]\\w*\\.java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toList());
        }
    }

    private static Set<String> methods(Class<?> type) {
        return Stream.of(type.getMethods()).map(Member::getName).collect(Collectors.toSet());
    }

    private static Set<String> members(Class<?> type) {
        Set<String> members = new HashSet<>(methods(type));
        Stream.of(type.getFields()).map(Member::getName).forEach(members::add);
        return members;
    }

    /** Returns the code in the columns after the first. */
    private static List<String> ours(String page) {
        List<String> spans = new ArrayList<>();
        for (String row : page.lines().filter(line -> line.startsWith("| ")).collect(Collectors.toList())) {
            SPAN.matcher(row.substring(row.indexOf('|', 1)))
                    .results()
                    .map((MatchResult span) -> span.group(1))
                    .forEach(spans::add);
        }
        return spans;
    }

    /** Returns the code that names a class or a member that does not exist. */
    private static List<String> faults(String page) throws IOException, ClassNotFoundException {
        Map<String, Class<?>> classes = classes();
        Set<String> methods = classes.values().stream()
                .flatMap(type -> methods(type).stream())
                .collect(Collectors.toSet());
        List<String> faults = new ArrayList<>();
        for (String span : ours(page)) {
            Matcher ofClass = OF_CLASS.matcher(span);
            Matcher method = METHOD.matcher(span);
            boolean known = true;
            if (ofClass.matches()) {
                Class<?> type = classes.get(ofClass.group(1));
                String member = ofClass.group(2);
                known = type != null && (member == null || members(type).contains(member));
            } else if (method.matches() && !NO_METHODS.contains(span)) {
                known = methods.contains(method.group(1));
            }
            if (!known) {
                faults.add(span);
            }
        }
        return faults;
    }

    @Test
    void theNamesExist() throws IOException, ClassNotFoundException {
        String page = Files.readString(Path.of("docs/guide/coming-from.md"));
        assertThat(ours(page)).contains("RpmaDevice.remote(addr)", "RdmaId.bindAddr", "RdmaEventType.REJECTED");
        assertThat(faults(page)).isEmpty();
    }

    @Test
    void aWrongNameIsFound() throws IOException, ClassNotFoundException {
        assertThat(faults("| `RpmaNone` | `RpmaConn`, `RpmaConn.write(dst)` | `RpmaWcStatus.SUCCESS`, `cq.poll(c)` |"))
                .isEmpty();
        assertThat(faults("| C | `RpmaNone` | `RpmaConn.none`, `RdmaId.none(1)` |\n| D | `none()`, `cq.none` |"))
                .containsExactly("RpmaNone", "RpmaConn.none", "RdmaId.none(1)", "none()", "cq.none");
        assertThat(faults("| C | `CompletionQueue` |"))
                .as("a class that is not public")
                .hasSize(1);
    }
}
