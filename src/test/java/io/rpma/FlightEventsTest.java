// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.FlightEventsProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.SettingDescriptor;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the events for JDK Flight Recorder with the guide. {@code FlightEventsIT} records them. */
class FlightEventsTest {
    private static final Path GUIDE = Path.of("docs/guide/observability.md");

    /** The fields that every event has. */
    private static final Set<String> COMMON = Set.of("startTime", "duration", "eventThread", "stackTrace");

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(io\\.rpma\\.\\w+)` \\|[^|]*\\|([^|]*)\\|([^|]*)\\|$");

    private static List<EventType> events() throws ClassNotFoundException {
        return Stream.of(Class.forName("io.rpma.internal.FlightEvents").getDeclaredClasses())
                .map(event -> EventType.getEventType(event.asSubclass(Event.class)))
                .collect(Collectors.toList());
    }

    private static String row(EventType event) {
        List<String> fields = event.getFields().stream()
                .map(ValueDescriptor::getName)
                .filter(name -> !COMMON.contains(name))
                .collect(Collectors.toList());
        return event.getName() + " " + fields + " " + threshold(event);
    }

    private static String threshold(EventType event) {
        return event.getSettingDescriptors().stream()
                .filter(setting -> setting.getName().equals("threshold"))
                .map(SettingDescriptor::getDefaultValue)
                .filter(value -> !value.equals("0 ns"))
                .findFirst()
                .orElse("");
    }

    private static String row(MatchResult row) {
        List<String> fields = Pattern.compile("`(\\w+)`")
                .matcher(row.group(2))
                .results()
                .map(field -> field.group(1))
                .collect(Collectors.toList());
        return row.group(1) + " " + fields + " " + row.group(3).strip();
    }

    @Test
    void theGuideHasAllEventsWithTheirFieldsAndThresholds() throws Exception {
        assertThat(rowsOfTheGuide())
                .containsExactlyInAnyOrderElementsOf(
                        events().stream().map(FlightEventsTest::row).collect(Collectors.toList()));
    }

    private static List<String> rowsOfTheGuide() throws IOException {
        return ROW.matcher(Files.readString(GUIDE))
                .results()
                .map(FlightEventsTest::row)
                .collect(Collectors.toList());
    }

    @Test
    void eachEventHasADescription() throws Exception {
        assertThat(events()).hasSize(6).allSatisfy(event -> {
            assertThat(event.getDescription()).isNotEmpty();
            assertThat(event.getCategoryNames()).containsExactly("RDMA");
            assertThat(event.getFields())
                    .allSatisfy(field -> assertThat(field.getLabel()).isNotEmpty());
        });
    }

    /** The class of an event makes the JDK initialize Flight Recorder and method handles. */
    @Test
    void noEventIsLoadedBeforeARecordingBegins(@TempDir Path directory) throws Exception {
        Jvm.Finished finished = run("-Xlog:class+load", directory);
        List<String> loaded = finished.out()
                .lines()
                .takeWhile(line -> !line.contains(FlightEventsProgram.WITHOUT))
                .collect(Collectors.toList());
        assertThat(loaded)
                .anyMatch(line -> line.contains("io.rpma.internal.FlightEvents "))
                .noneMatch(line -> line.contains("io.rpma.internal.FlightEvents$"));
        assertThat(loaded)
                .filteredOn(line -> line.contains(" jdk.jfr."))
                .allMatch(line -> line.contains(" jdk.jfr.FlightRecorder "));
    }

    @Test
    void aRecordingThatBeginsLaterGetsTheEvents(@TempDir Path directory) throws Exception {
        List<String> each =
                List.of("io.rpma.Registration", "io.rpma.Connection", "io.rpma.Disconnection", "io.rpma.Wait");
        assertThat(run("-Xlog:disable", directory).out().lines().skip(1))
                .containsExactlyElementsOf(
                        Stream.concat(each.stream(), each.stream()).collect(Collectors.toList()));
    }

    /** A process without a free descriptor can't load a class, as if the class were missing. */
    @Test
    void anEventThatCannotBeLoadedIsLostAndItsOperationSucceeds(@TempDir Path directory) throws Exception {
        Path classes = directory.resolve("classes");
        Tool.run("cp", "-r", Jvm.placeOf(RpmaConn.class).toString(), classes.toString());
        for (Class<?> event : Class.forName("io.rpma.internal.FlightEvents").getDeclaredClasses()) {
            Files.delete(classes.resolve(event.getName().replace('.', '/') + ".class"));
        }
        Jvm.Finished finished = run(Jvm.onClassPath(classes, Jvm.testClasses()), "-Xlog:disable", directory);
        assertThat(finished.out()).isEqualTo(FlightEventsProgram.WITHOUT + "\n");
    }

    private static Jvm.Finished run(String option, Path directory) throws Exception {
        return run(Jvm.likeThis(), option, directory);
    }

    private static Jvm.Finished run(Jvm jvm, String option, Path directory) throws Exception {
        Jvm.Finished finished = jvm.options(option)
                .run(
                        FlightEventsProgram.class,
                        CProgram.noopLibrpma().toString(),
                        directory.resolve("events.jfr").toString());
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished;
    }
}
