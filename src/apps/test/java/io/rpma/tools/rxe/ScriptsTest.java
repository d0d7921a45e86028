// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.rxe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The copies of the scripts in the cache. */
class ScriptsTest {
    private static final int STARTS = 16;

    @TempDir
    private Path directory;

    private static Scripts scripts(String content) {
        return new Scripts(new TreeMap<>(
                Map.of("native/rxe", content.getBytes(StandardCharsets.UTF_8), "src/bed/part.sh", new byte[10])));
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void theScriptAndItsParts() throws IOException {
        Path script = scripts("one").unpack(directory.resolve("new/cache"));
        assertThat(script).hasContent("one").isExecutable();
        assertThat(script.resolveSibling("../src/bed/part.sh")).hasSize(10);
    }

    @Test
    void eachVersionHasADirectory() throws IOException {
        Path one = scripts("one").unpack(directory);
        Path two = scripts("two").unpack(directory);
        assertThat(one).isNotEqualTo(two).hasContent("one");
        assertThat(two).hasContent("two");
    }

    @Test
    void theCopyOfAnEarlierStart() throws IOException {
        Path one = scripts("one").unpack(directory);
        Files.writeString(one, "changed");
        assertThat(scripts("one").unpack(directory)).isEqualTo(one).hasContent("changed");
    }

    @Test
    void manyStartsAtTheSameTime() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(STARTS);
        try {
            CyclicBarrier begin = new CyclicBarrier(STARTS);
            List<Future<Path>> made = new ArrayList<>();
            for (int i = 0; i < STARTS; i++) {
                made.add(threads.submit(() -> {
                    begin.await();
                    return scripts("one").unpack(directory);
                }));
            }
            for (Future<Path> script : made) {
                assertThat(script.get()).hasContent("one");
            }
            assertThat(names(directory)).hasSize(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aCacheThatCanNotBeWritten() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        Path cache = file.resolve("cache");
        assertThatIOException()
                .isThrownBy(() -> scripts("one").unpack(cache))
                .withMessageStartingWith("can't write in " + cache + " (")
                .withMessageEndingWith("): set RPMA_CACHE to a directory that you can write");
    }

    @Test
    void theCacheOfTheScript() {
        assertThat(Scripts.cache(Map.of())).isEqualTo(Path.of("/root/.cache/rpma-java"));
        assertThat(Scripts.cache(Map.of("HOME", ""))).isEqualTo(Path.of("/root/.cache/rpma-java"));
        assertThat(Scripts.cache(Map.of("HOME", "/h", "RPMA_CACHE", "", "XDG_CACHE_HOME", "")))
                .isEqualTo(Path.of("/h/.cache/rpma-java"));
        assertThat(Scripts.cache(Map.of("XDG_CACHE_HOME", "/x"))).isEqualTo(Path.of("/x/rpma-java"));
        assertThat(Scripts.cache(Map.of("XDG_CACHE_HOME", "/x", "RPMA_CACHE", "/r")))
                .isEqualTo(Path.of("/r"));
    }

    @Test
    void theClassesAreInNoJar() {
        assertThatIOException()
                .isThrownBy(Scripts::ofThisJar)
                .withMessageEndingWith(" is no jar of the tools: use native/rxe of the checkout");
    }
}
