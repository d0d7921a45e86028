// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import java.time.Duration;
import java.util.function.Consumer;
import jdk.jfr.consumer.RecordingStream;

/** The watch of events that the guide shows. */
final class EventReports {
    private EventReports() {}

    /** Starts a thread that reports failed operations and long waits. */
    static RecordingStream watch(Consumer<String> report) {
        RecordingStream events = new RecordingStream();
        events.enable("io.rpma.ErrorCompletion");
        events.enable("io.rpma.Wait").withThreshold(Duration.ofMillis(100));
        events.onEvent("io.rpma.ErrorCompletion", event -> report.accept("failed: " + event.getString("status")));
        events.onEvent("io.rpma.Wait", event -> report.accept("long wait: " + event.getString("object")));
        events.startAsync();
        return events;
    }
}
