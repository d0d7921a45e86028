// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts with numbers do not depend on the locale, whose digits can be others: in ar-EG, 64 is ٦٤. */
class LocaleTest {
    /** A format without a locale as its first argument. {@code formatted} can't have one. */
    private static final Pattern OF_THE_LOCALE =
            Pattern.compile("\\.formatted\\(|(String\\.format|\\.printf|new Formatter)\\((?!\\s*Locale\\.ROOT,)");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "src/main/java",
                "src/apps/bench/java",
                "src/apps/examples/java",
                "src/apps/support/java",
                "src/apps/tools/java"
            })
    void eachFormatIsOfNoLocale(Path sources) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            List<Path> all =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            assertThat(all).isNotEmpty();
            for (Path file : all) {
                assertThat(Files.readString(file)).as(file.toString()).doesNotContainPattern(OF_THE_LOCALE);
            }
        }
    }

    @Test
    void aFormatOfTheLocaleIsFound() {
        assertThat(List.of("\"%d\".formatted(1)", "String.format(\n  \"%d\", 1)", "out.printf(\"%d\", 1)"))
                .allMatch(text -> OF_THE_LOCALE.matcher(text).find());
        assertThat("String.format(\n Locale.ROOT, \"%d\", 1)").doesNotContainPattern(OF_THE_LOCALE);
    }
}
