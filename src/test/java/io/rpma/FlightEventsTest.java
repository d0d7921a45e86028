package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

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
        assertThat(events()).hasSize(5).allSatisfy(event -> {
            assertThat(event.getDescription()).isNotEmpty();
            assertThat(event.getCategoryNames()).containsExactly("RDMA");
            assertThat(event.getFields())
                    .allSatisfy(field -> assertThat(field.getLabel()).isNotEmpty());
        });
    }
}
