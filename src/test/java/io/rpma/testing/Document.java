// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The documents whose statements are tested. */
public enum Document {
    /** The first page. */
    README("README.md"),
    /** The tables of functions. */
    FUNCTIONS("docs/functions.md"),
    /** The session in JShell. */
    JSHELL("docs/jshell.md"),
    /** The commands for other projects. */
    OWN_PROJECT("docs/own-project.md"),
    /** The commands for containers. */
    CONTAINERS("docs/containers.md"),
    /** The forms in which applications use the jar. */
    PACKAGING("docs/packaging.md"),
    /** The page of the guide with the first programs. */
    FIRST_PROCESSES("docs/guide/first-processes.md"),
    /** The page of the guide with the map. */
    REPLICATED_MAP("docs/guide/replicated-map.md"),
    /** The page of the guide about kinds of memory. */
    MEMORY("docs/guide/memory.md"),
    /** The page of the guide about limits. */
    GUIDE_CONTAINERS("docs/guide/containers.md"),
    /** The page of the guide about tests. */
    GUIDE_TESTING("docs/guide/testing.md"),
    /** The events for Flight Recorder, and the log. */
    OBSERVABILITY("docs/guide/observability.md"),
    /** Apache Ratis over RDMA. */
    RATIS("docs/ratis.md"),
    /** The commands of the tools. */
    TOOLS("docs/tools.md");

    /** A code block: its language, its name if it has one, and its text. */
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\S*) *(\\S*)$\\R(.*?)^```$");

    private final Path file;

    Document(String file) {
        this.file = Path.of(file);
    }

    /** The code block with a name, which follows the language. */
    public String block(String name) throws IOException {
        return BLOCK.matcher(text())
                .results()
                .filter(block -> block.group(2).equals(name))
                .map((MatchResult block) -> block.group(3))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no block '" + name + "' in " + file));
    }

    /**
     * The names of all code blocks; empty for a block without a name. In the guide, {@code GuideTest} reads the blocks
     * of Java.
     */
    public List<String> blockNames() throws IOException {
        boolean guide = file.startsWith("docs/guide");
        return BLOCK.matcher(text())
                .results()
                .filter(block -> !guide || !block.group(1).equals("java"))
                .map((MatchResult block) -> block.group(2))
                .collect(Collectors.toList());
    }

    /** The whole text. */
    public String text() throws IOException {
        return Files.readString(file);
    }

    /** The text below a heading, up to the next one. */
    public String section(String heading) throws IOException {
        Matcher section =
                Pattern.compile("(?ms)^## " + heading + "$\\R(.*?)(?=^## |\\z)").matcher(text());
        if (!section.find()) {
            throw new AssertionError("no section '" + heading + "' in " + file);
        }
        return section.group(1);
    }
}
