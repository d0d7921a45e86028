// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rpma.bench.Language;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The measurements, and the commands that the clients get for them. */
class PlanTest {
    @Test
    void measuresEveryOperation() {
        for (Plan plan : List.of(Plan.full(true), Plan.quick(true))) {
            assertThat(plan.points()).doesNotHaveDuplicates();
            assertThat(plan.points()).extracting(Point::operation).contains(Operation.values());
            assertThat(plan.points()).extracting(Point::depth).contains(1, 16, 64);
            assertThat(plan.points()).extracting(Point::completions).contains(Completions.POLL, Completions.WAIT);
            assertThat(plan.connections()).startsWith(1).isSorted();
            assertThat(plan.grown()).startsWith(1).isSorted();
        }
        assertThat(Plan.full(true).points()).extracting(Point::completions).contains(Completions.BLOCK);
        assertThat(Plan.full(true).ids()).contains(1, 100, 1000);
    }

    @Test
    void flushesToPersistenceOnlyWhereThereIsPersistentMemory() {
        for (Plan plan : List.of(Plan.full(false), Plan.quick(false))) {
            assertThat(plan.points())
                    .extracting(Point::operation)
                    .contains(Operation.FLUSH_VISIBILITY)
                    .doesNotContain(Operation.FLUSH_PERSISTENT);
        }
    }

    @Test
    void writesAtomicallyNoMoreThanAWord() {
        assertThat(Plan.full(true).points())
                .filteredOn(point -> point.operation() == Operation.ATOMIC_WRITE)
                .isNotEmpty()
                .allMatch(point -> point.size() == Long.BYTES);
    }

    @Test
    void makesCommands() {
        assertThat(new Point(Operation.FLUSH_PERSISTENT, 1024, 16, Completions.WAIT).command(500))
                .isEqualTo("load flush-persistent 1024 16 wait 500");
        assertThat(new Point(Operation.WRITE, 8, 1, Completions.POLL).command(20))
                .isEqualTo("load write 8 1 poll 20");
    }

    /** The clients support librdmacm's operations only without {@code BLOCK}, and only up to the inline size. */
    @Test
    void measuresLibrdmacmWithoutBlockingOfWhatGoesInline() {
        for (Plan plan : List.of(Plan.full(true), Plan.quick(true))) {
            assertThat(plan.points())
                    .filteredOn(point -> point.operation().isRdmacm())
                    .extracting(Point::completions)
                    .contains(Completions.POLL, Completions.WAIT)
                    .doesNotContain(Completions.BLOCK);
            assertThat(plan.points())
                    .filteredOn(point -> point.operation().isRdmacm())
                    .allMatch(point -> point.size() <= RdmaConnection.INLINE_SIZE);
        }
    }

    @Test
    void addsNoMoreThanAWord() {
        for (Plan plan : List.of(Plan.full(true), Plan.quick(true))) {
            assertThat(plan.points())
                    .filteredOn(point -> point.operation() == Operation.RDMA_FETCH_AND_ADD)
                    .isNotEmpty()
                    .allMatch(point -> point.size() == Long.BYTES);
        }
    }

    /** The pictures by size have the writes and TCP at the same sizes and depths. */
    @Test
    void measuresTcpBesideWrites() {
        List<Point> points = Plan.full(true).points();
        List<Point> tcp = points.stream()
                .filter(point -> point.operation() == Operation.TCP)
                .toList();
        assertThat(tcp).extracting(Point::depth).containsOnly(1, 16);
        assertThat(tcp).extracting(Point::completions).containsOnly(Completions.BLOCK);
        assertThat(points)
                .containsAll(tcp.stream()
                        .map(point -> new Point(Operation.WRITE, point.size(), point.depth(), Completions.POLL))
                        .toList());
    }

    /** A chain needs a depth of two, and a target compares it with librpma's writes under the same conditions. */
    @Test
    void measuresChainsBesideSingleWrites() {
        for (Plan plan : List.of(Plan.full(true), Plan.quick(true))) {
            List<Point> chained = plan.points().stream()
                    .filter(point -> point.operation() == Operation.RDMA_WRITE_CHAINED)
                    .toList();
            assertThat(chained).isNotEmpty().allMatch(point -> point.depth() > 1);
            assertThat(plan.points())
                    .containsAll(chained.stream()
                            .map(point -> new Point(Operation.WRITE, point.size(), point.depth(), point.completions()))
                            .toList());
        }
    }

    /** C and Java are measured everywhere, bare JNI only for librpma's waits. */
    @Test
    void measuresBareJniWhereCompletionsOfLibrpmaAreWaitedFor() {
        for (Plan plan : List.of(Plan.full(true), Plan.quick(true))) {
            assertThat(plan.points())
                    .allSatisfy(point -> assertThat(point.languages()).containsAll(Language.EVERYWHERE))
                    .filteredOn(point -> point.languages().contains(Language.BARE))
                    .isNotEmpty()
                    .allMatch(point -> point.completions() == Completions.WAIT
                            && !point.operation().isRdmacm())
                    .hasSameSizeAs(plan.points().stream()
                            .filter(point -> point.completions() == Completions.WAIT
                                    && !point.operation().isRdmacm())
                            .toList());
            assertThat(plan.scaled()).doesNotContain(Language.BARE);
        }
    }

    @Test
    void measuresOnlyChosenOperations() {
        Plan plan = Plan.full(true);
        assertThat(plan.only(List.of())).isEqualTo(plan);
        assertThat(plan.only(List.of(Operation.READ, Operation.TCP)).points())
                .containsExactlyElementsOf(plan.points().stream()
                        .filter(point -> point.operation() == Operation.READ || point.operation() == Operation.TCP)
                        .toList())
                .extracting(Point::operation)
                .contains(Operation.READ, Operation.TCP);
    }

    @Test
    void registersAMemoryAsAWholeAndInParts() {
        assertThat(new Plan.Registration(4096, 1).command()).isEqualTo("register 4096 1");
        assertThat(new Plan.Registration(4096, 1).params()).isEqualTo(Map.of("bytes", "4096"));
        assertThat(new Plan.Registration(4096, 2).command()).isEqualTo("register 4096 2");
        assertThat(new Plan.Registration(4096, 2).params()).isEqualTo(Map.of("bytes", "4096", "parts", "2"));
        assertThat(Plan.full(true).registered())
                .filteredOn(registration -> registration.parts() > 1)
                .isNotEmpty()
                .allMatch(registration ->
                        Plan.full(true).registered().contains(new Plan.Registration(registration.bytes(), 1)));
    }

    @Test
    void readsCommands() {
        Load load = new Load(Operation.READ, 64, 16, Completions.WAIT, 500);
        String command = new Point(Operation.READ, 64, 16, Completions.WAIT).command(500);
        assertThat(Load.of(command.split(" "))).isEqualTo(load);
        assertThat(Load.of((command + " file").split(" "))).isEqualTo(load);
        assertThatIllegalArgumentException().isThrownBy(() -> Load.of("load read 64 16 sleep 500".split(" ")));
    }

    /** Both clients have the same names for operations and for the ways to take completions. */
    @Test
    void namesThingsAsTheClientInCDoes() throws IOException {
        String c = Files.readString(Path.of("src/apps/bench/c/load.c"));
        for (Operation operation : Operation.values()) {
            assertThat(c).contains("[" + operation.name() + "] = \"" + operation.command() + "\"");
            assertThat(Operation.of(operation.command())).isEqualTo(operation);
        }
        for (Completions completions : Completions.values()) {
            assertThat(c).contains("[" + completions.name() + "] = \"" + completions.command() + "\"");
            assertThat(Completions.of(completions.command())).isEqualTo(completions);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> Operation.of("nothing"));
    }
}
