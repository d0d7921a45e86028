// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The document lists the properties with their defaults. */
@Tag("stand-in")
class RpmaConfigKeysIT {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(raft\\.rpma[^`]*)` \\| ([^|]*) \\|");

    private static Stream<Field> keys(Class<?> type) {
        return Stream.of(type.getFields()).filter(field -> field.getName().endsWith("_KEY"));
    }

    @Test
    void theTableIsComplete() throws Exception {
        List<String> expected = new ArrayList<>();
        for (Class<?> type : List.of(RpmaConfigKeys.class, RpmaConfigKeys.Server.class)) {
            for (Field key : keys(type).toList()) {
                Object value =
                        type.getField(key.getName().replace("_KEY", "_DEFAULT")).get(null);
                expected.add(key.get(null) + " " + String.valueOf(value).replaceAll(" .*", ""));
            }
        }
        List<String> shown = ROW.matcher(Document.RATIS.text())
                .results()
                .map(row -> row.group(1) + " "
                        + row.group(2)
                                .replace("the first active device", "null")
                                .replace("none", "0"))
                .map(row -> row.replaceAll("(\\d) (KB|MB|s)$", "$1$2"))
                .toList();
        assertThat(shown).containsExactlyInAnyOrderElementsOf(expected);
    }
}
