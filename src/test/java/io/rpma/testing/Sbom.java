// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** An SBOM in a jar. The tests of jars also run without a parser of JSON in their class path. */
public final class Sbom {
    private final String text;

    private Sbom(String text) {
        this.text = text;
    }

    /** Reads the SBOM of a jar. */
    public static Sbom of(Path jar, String name) throws IOException {
        try (JarFile file = new JarFile(jar.toFile());
                InputStream entry = file.getInputStream(file.getEntry("META-INF/sbom/" + name))) {
            return new Sbom(new String(entry.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** The texts with a name, in their order. */
    public List<String> values(String name) {
        return Pattern.compile("\"" + name + "\": \"([^\"]*)\"")
                .matcher(text)
                .results()
                .map((MatchResult value) -> value.group(1))
                .collect(Collectors.toList());
    }
}
