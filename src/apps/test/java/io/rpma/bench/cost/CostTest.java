// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import io.rpma.testing.Jvm;
import io.rpma.testing.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The librpma that does nothing, and the programs that measure the cost of calling it. */
class CostTest {
    @TempDir
    private Path directory;

    private final String library =
            Bench.OUTPUT.resolve("librpma.so.0").toAbsolutePath().toString();
    private final String program = Bench.OUTPUT.resolve("cost").toString();

    private static List<String> exported(String library, String prefix) throws Exception {
        return Tool.run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library)
                .lines()
                .map(line -> line.replaceAll(".* ", ""))
                .filter(name -> name.startsWith(prefix))
                .toList();
    }

    @Test
    void theLibraryHasTheSymbolsOfTheRealOne() throws Exception {
        String real = Tool.run("gcc", "-print-file-name=librpma.so").strip();
        assertThat(exported(library, "rpma_"))
                .hasSize(84)
                .allSatisfy(name -> assertThat(name).endsWith("@@LIBRPMA_1.0"))
                .containsExactlyInAnyOrderElementsOf(exported(real, "rpma_"));
    }

    @Test
    void theLibraryHasTheNameOfTheRealOne() throws Exception {
        assertThat(Tool.run("readelf", "--dynamic", library)).contains("Library soname: [librpma.so.0]");
    }

    @Test
    void everyOperationRunsInC() throws Exception {
        Stream<String> operations = Stream.concat(Cost.operations().stream(), Threads.closes().stream());
        for (String operation : operations.toList()) {
            assertThat(CPrograms.run(program, operation, "2").lines().map(Double::valueOf))
                    .hasSize(2)
                    .allSatisfy(nanos -> assertThat(nanos).isPositive());
        }
    }

    @Test
    void threadsRunInC() throws Exception {
        for (String operation : Threads.operations()) {
            assertThat(CPrograms.run(program, operation, "2", "2", "1").lines().map(Double::valueOf))
                    .hasSize(2)
                    .allSatisfy(nanos -> assertThat(nanos).isPositive().isFinite());
        }
    }

    @Test
    void otherOperationsAreRefused() {
        assertThatIOException()
                .isThrownBy(() -> CPrograms.run(program, "no", "1"))
                .withMessageContaining("status 2: usage");
        assertThatIOException()
                .isThrownBy(() -> CPrograms.run(program, "read", "0"))
                .withMessageContaining("status 2: usage");
        assertThatIOException().isThrownBy(() -> CPrograms.run(program)).withMessageContaining("status 2: usage");
    }

    @Test
    void otherThreadsAreRefused() {
        List<List<String>> refused =
                List.of(List.of("2"), List.of("0", "1"), List.of("-1", "1"), List.of("2", "0"), List.of("100000", "1"));
        for (List<String> threads : refused) {
            Stream<String> command = Stream.concat(Stream.of(program, "write", "1"), threads.stream());
            assertThatIOException()
                    .as(threads.toString())
                    .isThrownBy(() -> CPrograms.run(command.toArray(String[]::new)))
                    .withMessageContaining("status 2: usage");
        }
    }

    @Test
    void aCloseOfManyObjectsHasOneThread() {
        for (String operation : Threads.closes()) {
            assertThatIOException()
                    .as(operation)
                    .isThrownBy(() -> CPrograms.run(program, operation, "1", "1", "1"))
                    .withMessageContaining("status 2: usage");
        }
    }

    @Test
    void everyOperationRunsInJava() throws Exception {
        Set<String> operations = new TreeSet<>(Cost.operations());
        operations.addAll(Threads.operations());
        operations.addAll(Threads.closes());
        assertThat(runJava(Cost.class.getPackageName())).containsExactlyInAnyOrderElementsOf(operations);
    }

    @Test
    void threadsRunInJava() throws Exception {
        assertThat(runJava(ThreadsBenchmark.class.getSimpleName() + " -t 2"))
                .isNotEmpty()
                .isSubsetOf(Threads.operations());
    }

    /** Runs operations in a separate JVM, which has not loaded another librpma, and returns their names. */
    private List<String> runJava(String chosen) throws Exception {
        Path results = directory.resolve("results.json");
        String options = "-f 0 -wi 0 -i 1 -r 1ms -foe true -rf json -rff " + results;
        Jvm.Finished jmh = Jvm.likeThis()
                .options("-D" + NoopTarget.LIBRARY_PROPERTY + "=" + library, "-Djmh.ignoreLock=true")
                .run(("org.openjdk.jmh.Main " + chosen + " " + options).split(" "));
        assertThat(jmh.status()).as(jmh.toString()).isZero();
        return benchmarks(results);
    }

    private static List<String> benchmarks(Path results) throws Exception {
        Iterable<JsonElement> all =
                JsonParser.parseString(Files.readString(results)).getAsJsonArray();
        return StreamSupport.stream(all.spliterator(), false)
                .map(result -> result.getAsJsonObject().get("benchmark").getAsString())
                .map(name -> name.substring(name.lastIndexOf('.') + 1))
                .toList();
    }
}
