// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaMemory;
import io.rpma.testing.Javac;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The map of the guide, in persistent memory if the machine has any. Each of the two processes may die. */
@Tag("processes")
@ResourceLock(TestDevice.PMEM)
class ReplicatedMapIT {
    private static final Path SOURCES = Path.of("src/it/consumer/map");
    private static final int SIZE = 2 << 20;

    @TempDir
    private static Path classes;

    private final List<Jvm.Running> started = new ArrayList<>();
    private String address;
    private String port;
    private Path memory;

    @BeforeAll
    static void compile() throws IOException {
        Javac.compile(classes, SOURCES.resolve("MapStore.java"), SOURCES.resolve("ReplicatedMap.java"));
    }

    @BeforeEach
    void prepare() throws IOException {
        address = TestDevice.address();
        port = Integer.toString(TestDevice.port());
        memory = TestDevice.pmemOrTmpfs();
        // the device DAX can have the bytes of another test
        clear(0, SIZE);
    }

    private void clear(int offset, int length) throws IOException {
        try (RpmaMemory mapped = RpmaMemory.map(memory, SIZE)) {
            mapped.buffer().put(offset, new byte[length]);
            mapped.persist();
        }
    }

    @AfterEach
    void end() throws IOException {
        started.forEach(Jvm.Running::close);
        if (memory != null) {
            TestDevice.delete(memory);
        }
    }

    private Jvm.Running start(String program, String... arguments) {
        List<String> words = new ArrayList<>(List.of(program, address, port));
        words.addAll(List.of(arguments));
        Jvm.Running running = Jvm.onClassPath(Jvm.libraryJar(), classes).start(words.toArray(String[]::new));
        started.add(running);
        return running;
    }

    private Jvm.Running store() throws InterruptedException {
        Jvm.Running store = start("MapStore", memory.toString());
        store.awaitLine("offering RpmaMemory");
        return store;
    }

    private Jvm.Running map(int entries) throws InterruptedException {
        Jvm.Running map = start("ReplicatedMap");
        map.awaitLine(entries + " entries");
        return map;
    }

    private static void input(Jvm.Running map, String lines) throws IOException {
        OutputStream input = map.process().getOutputStream();
        input.write(lines.getBytes(StandardCharsets.UTF_8));
        input.flush();
    }

    private static void kill(Jvm.Running jvm) throws InterruptedException {
        jvm.kill();
        jvm.awaitEnd();
    }

    private static void end(Jvm.Running map) throws IOException, InterruptedException {
        map.process().getOutputStream().close();
        Jvm.Finished end = map.awaitEnd();
        assertThat(end.status()).as(end.toString()).isZero();
    }

    @Test
    @Tag("persistent-memory-too")
    void theMapSurvivesTheDeathOfEitherProcess() throws Exception {
        Jvm.Running store = store();
        Jvm.Running map = map(0);
        input(map, "put a 1\nput b 2\nput a 3\n");
        map.awaitLine("a = 3");

        kill(store);
        input(map, "put c 4\n");
        map.awaitLine(address + " is lost");
        store();
        map.awaitLine("c = 4");

        kill(map);
        Jvm.Running again = map(3);
        input(again, "get a\nget b\nget c\nput a 5\n");
        again.awaitLine("a = 5");
        assertThat(again.lines()).endsWith("a = 3", "b = 2", "c = 4", "a = 5");
        end(again);
        end(map(3));
    }

    @Test
    void bothProcessesAreKilledWhileTheMapIsChanged() throws Exception {
        Jvm.Running store = store();
        Jvm.Running map = map(0);
        Thread writer = new Thread(() -> {
            try {
                for (int i = 1; ; i++) {
                    input(map, "put k" + i % 7 + ' ' + i + '\n');
                }
            } catch (IOException e) {
                // the map is dead
            }
        });
        writer.start();
        map.awaitLine(" = 100");
        kill(store);
        map.awaitLine(address + " is lost");
        store();
        map.awaitLine(" = 500");
        kill(map);
        writer.join();
        int last = map.lines().size() - 1;
        String acknowledged = map.lines().get(last);
        int value = Integer.parseInt(acknowledged.substring(acknowledged.indexOf('=') + 2));

        Jvm.Running again = map(7);
        StringBuilder gets = new StringBuilder();
        for (int key = 0; key < 7; key++) {
            gets.append("get k").append(key).append('\n');
        }
        input(again, gets.toString());
        again.awaitLine("k6 = ");
        for (int i = value - 6; i <= value; i++) {
            int found = Integer.parseInt(again.awaitLine("k" + i % 7 + " = ").substring(5));
            assertThat(found).isIn(i, i + 7).isLessThanOrEqualTo(value + 1);
        }
        end(again);
    }

    /** The store loses the identity, all of the copy, or the entries alone. */
    @ParameterizedTest
    @CsvSource({"0, 8", "0, 2097152", "512, 2096640"})
    void aCopyThatWasLostIsFilledAgain(int offset, int length) throws Exception {
        Jvm.Running store = store();
        Jvm.Running map = map(0);
        input(map, "put a 1\nput b 2\n");
        map.awaitLine("b = 2");
        kill(store);
        clear(offset, length);
        store();
        input(map, "put c 3\n");
        map.awaitLine("c = 3");
        end(map);
        Jvm.Running again = map(3);
        input(again, "get a\nget b\n");
        again.awaitLine("a = 1");
        again.awaitLine("b = 2");
        end(again);
    }

    @Test
    void anEntryThatIsTooLong() throws Exception {
        store();
        Jvm.Running map = map(0);
        input(map, "put a " + "x".repeat(300) + "\n");
        Jvm.Finished end = map.awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).contains("no room for the entry of a");
        end(map(0));
    }
}
