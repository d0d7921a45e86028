// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LogProgram;
import io.rpma.testing.Document;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands and the sample of the guide's page on observability. */
@Tag("stand-in")
class ObservabilityTest {
    private static final String JDK = Path.of(System.getProperty("java.home"), "bin") + ":";

    @TempDir
    private Path directory;

    /**
     * Runs commands of the guide in a shell, in the directory, with the stand-in for the JVMs, and not for the shell.
     */
    private String run(String commands) throws IOException, InterruptedException {
        return Tool.run(
                "env",
                "PATH=" + JDK + System.getenv("PATH"),
                "PID=" + ProcessHandle.current().pid(),
                "sh",
                "-ec",
                "cd " + directory + "\nexport LD_PRELOAD='" + System.getenv("LD_PRELOAD") + "'\n" + commands);
    }

    /** Ends the recording of the command in this process, also after a failure. */
    @AfterEach
    void endRecording() {
        for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (recording.getName().equals("rdma")) {
                recording.close();
            }
        }
    }

    /** Also without the date, which jfr of JDK 25 prints after the time. */
    private static List<String> withoutNumbers(String text) {
        return text.lines()
                .map(line -> line.replaceFirst(" \\(\\d+-\\d+-\\d+\\)$", ""))
                .map(line -> line.replaceAll("\\d+", "0"))
                .collect(Collectors.toList());
    }

    @Test
    void theRecordingOfTheExampleHasTheEventThatIsShown() throws Exception {
        Files.writeString(directory.resolve("Hello.java"), Document.README.block("hello"));
        Tool.inThisJvm(
                "javac",
                "-cp",
                Jvm.libraryJar().toString(),
                "-d",
                directory.toString(),
                directory.resolve("Hello.java").toString());
        String output = run(Document.OBSERVABILITY
                .block("record")
                .replaceAll("target/rpma-java-\\S*\\.jar", "'" + Jvm.libraryJar() + "'")
                .replace("10.0.0.1", TestDevice.address()));
        assertThat(output).contains("target: Hello, remote memory!");
        assertThat(withoutNumbers(output))
                .containsSequence(withoutNumbers(Document.OBSERVABILITY.block("printed")))
                .contains("io.rpma.Registration {", "io.rpma.ConnectionEvent {")
                .doesNotContain("io.rpma.ErrorCompletion {");
    }

    @Test
    void aRecordingOfARunningProcessHasItsShorterWaits() throws Exception {
        List<String> commands = Document.OBSERVABILITY.block("later").lines().collect(Collectors.toList());
        assertThat(commands).hasSize(2);
        Path file = directory.resolve("rdma.jfr");
        try (Pair pair = Pair.connect()) {
            run(commands.get(0));
            assertThat(pair.client.nextEvent(2, TimeUnit.MILLISECONDS)).isEmpty();
            run(commands.get(1).replace("rdma.jfr", file.toString()));
        }
        assertThat(RecordingFile.readAllEvents(file))
                .filteredOn(event -> event.getEventType().getName().equals("io.rpma.Wait"))
                .extracting(event -> event.getString("operation"))
                .contains("rpma_conn_next_event");
    }

    /** {@code GuideTest} compares the page with {@code EventReports}. */
    @Test
    void theWatchReportsAFailedOperationAndALongWait() throws Exception {
        List<String> reports = new CopyOnWriteArrayList<>();
        RecordingStream events = EventReports.watch(reports::add);
        try (events;
                Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 8)) {
            assertThat(pair.client.nextEvent(101, TimeUnit.MILLISECONDS)).isEmpty();
            regions.target.close();
            Pair.assertPosted(
                    pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 5));
            Pair.assertCompletion(pair.client, 5, RpmaWcStatus.REM_ACCESS_ERR);
            // a slow machine has more long waits, and they arrive in any order
            List<String> expected = List.of("long wait: " + name(pair.client), "failed: REM_ACCESS_ERR");
            Eventually.become("both reports: " + expected, () -> reports.containsAll(expected));
        }
    }

    @Test
    void theLogIsPrintedAsTheFileConfigures() throws Exception {
        Path file = Files.writeString(directory.resolve("logging.properties"), Document.OBSERVABILITY.block("logging"));
        Jvm.Finished finished = Jvm.likeThis()
                .options("-Djava.util.logging.config.file=" + file)
                .run(LogProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isNotBlank();
        assertThat(finished.err()).isEqualTo("FINE io.rpma: " + finished.out());
    }
}
