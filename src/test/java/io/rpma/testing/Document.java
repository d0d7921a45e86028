package io.rpma.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The README, whose statements the tests hold it to. */
public final class Readme {
    private static final Path FILE = Path.of("README.md");

    private Readme() {}

    /** The code blocks of a language, in their order. */
    public static List<String> blocks(String language) throws IOException {
        return Pattern.compile("(?ms)^```" + language + "$\\R(.*?)^```$")
                .matcher(Files.readString(FILE))
                .results()
                .map((MatchResult block) -> block.group(1))
                .collect(Collectors.toList());
    }

    /** The text below a heading, up to the next one. */
    public static String section(String heading) throws IOException {
        Matcher section =
                Pattern.compile("(?ms)^## " + heading + "$\\R(.*?)(?=^## |\\z)").matcher(Files.readString(FILE));
        if (!section.find()) {
            throw new AssertionError("no section '" + heading + "' in " + FILE);
        }
        return section.group(1);
    }
}
