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
    JSHELL("docs/jshell.md");

    private final Path file;

    Document(String file) {
        this.file = Path.of(file);
    }

    /** The code blocks of a language, in their order. */
    public List<String> blocks(String language) throws IOException {
        return Pattern.compile("(?ms)^```" + language + "$\\R(.*?)^```$")
                .matcher(Files.readString(file))
                .results()
                .map((MatchResult block) -> block.group(1))
                .collect(Collectors.toList());
    }

    /** The text below a heading, up to the next one. */
    public String section(String heading) throws IOException {
        Matcher section =
                Pattern.compile("(?ms)^## " + heading + "$\\R(.*?)(?=^## |\\z)").matcher(Files.readString(file));
        if (!section.find()) {
            throw new AssertionError("no section '" + heading + "' in " + file);
        }
        return section.group(1);
    }
}
