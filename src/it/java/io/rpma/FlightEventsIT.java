package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.rdmacm.RdmaEventType;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The events that JDK Flight Recorder gets. */
@Timeout(120)
class FlightEventsIT extends WithConnection {
    private static final int SIZE = 1 << 16;
    private static final long CONTEXT = 4711;

    private final Recording recording = new Recording();

    @TempDir
    private Path directory;

    FlightEventsIT() {
        super(SIZE);
    }

    @BeforeEach
    void start() {
        recording.start();
    }

    @AfterEach
    void close() {
        recording.close();
    }

    private List<RecordedEvent> recorded(String name) throws IOException {
        Path file = directory.resolve(name + ".jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.rpma." + name))
                .collect(Collectors.toList());
    }

    /** The kind and the number of an object, with which its text begins. */
    private static String name(Object object) {
        return object.toString().split("[ \\[]")[0];
    }

    @Test
    void aRegistrationHasItsRegionSizeAndDuration() throws IOException {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.READ_DST)) {
            assertThat(recorded("Registration")).singleElement().satisfies(event -> {
                assertThat(event.getString("region")).isEqualTo(name(region));
                assertThat(event.getLong("size")).isEqualTo(SIZE);
                assertThat(event.getDuration()).isPositive();
            });
        }
    }

    @Test
    void aRegistrationOfLibrdmacmIsRecordedToo() throws Exception {
        try (RdmaPair ids = RdmaPair.connect()) {
            assertThat(recorded("Registration"))
                    .isNotEmpty()
                    .extracting(event -> event.getString("region"))
                    .contains(name(ids.clientMr), name(ids.serverMr));
            assertThat(recorded("ConnectionEvent"))
                    .extracting(event -> event.getString("event"))
                    .contains(RdmaEventType.ESTABLISHED.toString());
        }
    }

    @Test
    void aDisconnectionAndItsEventsAreRecorded() throws Exception {
        pair.client.disconnect();
        Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
        pair.server.disconnect();
        Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        assertThat(recorded("Disconnection"))
                .extracting(event -> event.getString("connection"))
                .containsExactly(name(pair.client), name(pair.server));
        assertThat(recorded("ConnectionEvent"))
                .extracting(event -> event.getString("connection") + " " + event.getString("event"))
                .containsExactly(name(pair.server) + " CLOSED", name(pair.client) + " CLOSED");
    }

    @Test
    void aFailedCompletionIsRecordedOnce() throws Exception {
        Pair.assertPosted(
                pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, CONTEXT - 1));
        Pair.assertDone(pair.client, CONTEXT - 1);
        regions.target.close();
        Pair.assertPosted(
                pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, CONTEXT));
        RpmaCompletions failed = Pair.assertCompletion(pair.client, CONTEXT, RpmaWcStatus.REM_ACCESS_ERR);
        assertThat(failed.isSuccess(0)).isFalse();
        assertThat(recorded("ErrorCompletion")).singleElement().satisfies(event -> {
            assertThat(event.getLong("operationContext")).isEqualTo(CONTEXT);
            assertThat(event.getString("status")).isEqualTo("REM_ACCESS_ERR");
            assertThat(event.getLong("queuePairNumber")).isEqualTo(failed.qpNum(0));
            assertThat(event.getLong("vendorError")).isEqualTo(Integer.toUnsignedLong(failed.vendorErr(0)));
        });
    }

    @Test
    void onlyLongWaitsAreRecorded() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertThat(pair.client.getCq().await(completions, 1, TimeUnit.MICROSECONDS))
                .isZero();
        assertThat(pair.client.getCq().await(completions, 40, TimeUnit.MILLISECONDS))
                .isZero();
        assertThat(pair.client.nextEvent(50, TimeUnit.MILLISECONDS)).isEmpty();
        assertThat(recorded("Wait"))
                .allSatisfy(event -> assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(20)))
                .extracting(event -> event.getString("operation") + " " + event.getString("object"))
                .contains("rpma_cq_wait " + pair.client.getCq(), "rpma_conn_next_event " + name(pair.client));
    }
}
