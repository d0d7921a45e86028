// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;

/** The base of the tests of librpma's examples: runs each side of an example in a JVM. */
abstract class ExampleSides {
    static final String OLD_VALUE = "Old value: Hello world!";
    static final String NEW_VALUE = "New value: Hello world!";
    static final String NEXT_VALUE = "Next value: Hello world!";
    static final String TRANSLATING = "translating...";
    static final String TRANSLATION = "Translation: \u00a1Hola Mundo!";
    static final String[] GREETED = {NEXT_VALUE, TRANSLATING, TRANSLATION};

    String address;
    int port;

    @BeforeEach
    void find() {
        address = TestDevice.address();
        port = TestDevice.port();
    }

    final Jvm.Running start(Class<?> program, String... more) {
        String[] command = Stream.concat(Stream.of(program.getName(), address, Integer.toString(port)), Stream.of(more))
                .toArray(String[]::new);
        return Jvm.likeThis().start(command);
    }

    static Jvm.Finished assertEnds(Jvm.Running side) throws InterruptedException {
        Jvm.Finished end = side.awaitEnd();
        assertThat(end.status()).as(end.toString()).isZero();
        return end;
    }

    static void assertPrints(Jvm.Running side, String... lines) throws InterruptedException {
        Jvm.Finished end = assertEnds(side);
        assertThat(end.out().lines()).as(end.toString()).containsExactly(lines);
    }
}
