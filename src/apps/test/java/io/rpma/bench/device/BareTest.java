// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.bench.Bench;
import io.rpma.testing.Tool;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The native methods of the client that has only its loop in Java. */
class BareTest {
    private static final String PREFIX = "Java_" + Bare.class.getName().replace('.', '_') + "_";

    @Test
    void everyNativeIsInTheLibraryAndNothingElse() throws Exception {
        String library = Bench.OUTPUT.resolve("libbare.so").toString();
        List<String> exported = Tool.run("nm", "--dynamic", "--defined-only", library)
                .lines()
                .map(line -> line.replaceAll(".* ", ""))
                .toList();
        assertThat(exported)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(Stream.of(Bare.class.getDeclaredMethods())
                        .filter(method -> Modifier.isNative(method.getModifiers()))
                        .map(Method::getName)
                        .map(PREFIX::concat)
                        .toList());
    }
}
