// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.rdmacm.RdmaEventType;
import io.rpma.testing.Blocked;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events that JDK Flight Recorder gets. */
@Tag("stand-in")
class FlightEventsIT extends WithConnection {
    private static final int SIZE = 1 << 16;
    private static final long CONTEXT = 4711;

    /** The default threshold of waits. */
    private static final Duration LONG = Duration.ofMillis(20);

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
                .filter(event ->
                        event.getEventType().getName().matches("io\\.rpma\\." + (name.isEmpty() ? ".*" : name)))
                .collect(Collectors.toList());
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
        }
    }

    @Test
    void connectionsHaveTheAddressOfTheOtherSideAndTheirEvents() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                RpmaConn server = ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow()
                        .connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            assertThat(recorded("Connection"))
                    .extracting(FlightEventsIT::connection)
                    .containsExactlyInAnyOrder(
                            name(client) + " outgoing " + TestDevice.address() + " " + port,
                            name(server) + " incoming null 0");
            assertThat(recorded("ConnectionEvent"))
                    .extracting(event -> event.getString("connection") + " " + event.getString("event"))
                    .containsExactlyInAnyOrder(name(client) + " ESTABLISHED", name(server) + " ESTABLISHED");
        }
    }

    @Test
    void connectionsOfLibrdmacmToo() throws Exception {
        try (RdmaPair ids = RdmaPair.connect()) {
            InetSocketAddress listener = ids.client.peerAddr().orElseThrow();
            InetSocketAddress client = ids.server.peerAddr().orElseThrow();
            assertThat(recorded("Connection"))
                    .extracting(FlightEventsIT::connection)
                    .containsExactlyInAnyOrder(
                            name(ids.client) + " outgoing " + TestDevice.address() + " " + listener.getPort(),
                            name(ids.server) + " incoming " + TestDevice.address() + " " + client.getPort());
            assertThat(recorded("ConnectionEvent"))
                    .extracting(event -> event.getString("event"))
                    .contains(RdmaEventType.ESTABLISHED.toString());
            ids.client.disconnect();
            assertThat(recorded("Disconnection"))
                    .extracting(event -> event.getString("connection"))
                    .containsExactly(name(ids.client));
        }
    }

    private static String connection(RecordedEvent event) {
        return event.getString("connection") + (event.getBoolean("incoming") ? " incoming " : " outgoing ")
                + event.getString("address") + " " + event.getInt("port");
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

    @Tag("remote-errors")
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
        RpmaCq cq = pair.client.getCq();
        assertThat(cq.await(completions, 1, TimeUnit.MICROSECONDS)).isZero();
        assertThat(cq.await(completions, 40, TimeUnit.MILLISECONDS)).isZero();
        assertThat(pair.client.nextEvent(50, TimeUnit.MILLISECONDS)).isEmpty();
        assertThat(recorded("Wait"))
                .allSatisfy(event -> assertThat(event.getDuration()).isGreaterThanOrEqualTo(LONG))
                .extracting(event -> event.getString("operation") + " " + event.getString("object"))
                .contains("rpma_cq_wait " + cq, "rpma_conn_next_event " + name(pair.client));
    }

    @Test
    void theThresholdOfAWaitIsASetting() throws Exception {
        recording.enable("io.rpma.Wait").withThreshold(Duration.ofHours(1));
        assertThat(pair.client.nextEvent(50, TimeUnit.MILLISECONDS)).isEmpty();
        assertThat(recorded("Wait")).isEmpty();
        recording.enable("io.rpma.Wait").withoutThreshold();
        assertThat(pair.client.nextEvent(0, TimeUnit.MILLISECONDS)).isEmpty();
        assertThat(recorded("Wait"))
                .singleElement()
                .satisfies(event -> assertThat(event.getStackTrace().getFrames())
                        .anyMatch(frame -> frame.getMethod().getName().equals("theThresholdOfAWaitIsASetting")));
    }

    @Test
    void aWaitThatFailsIsRecorded() throws Exception {
        Blocked waiting = new Blocked(pair.client::nextEvent);
        long start = System.nanoTime();
        Eventually.become("a long wait", () -> System.nanoTime() - start > LONG.toNanos());
        pair.client.close();
        assertThat(waiting.failure()).isInstanceOf(IllegalStateException.class);
        assertThat(recorded("Wait"))
                .extracting(event -> event.getString("operation") + " " + event.getString("object"))
                .containsExactly("rpma_conn_next_event " + name(pair.client));
    }

    @Tag("remote-errors")
    @Test
    void eventsThatAreDisabledAreNotRecorded() throws Exception {
        for (String name : List.of("Registration", "Connection", "ConnectionEvent", "Disconnection", "Wait")) {
            recording.disable("io.rpma." + name);
        }
        recording.disable("io.rpma.ErrorCompletion");
        regions.target.close();
        Pair.assertPosted(
                pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, CONTEXT));
        Pair.assertCompletion(pair.client, CONTEXT, RpmaWcStatus.REM_ACCESS_ERR);
        try (Pair other = Pair.connect();
                Regions more = new Regions(other.peer, SIZE)) {
            assertThat(more.local.getSize()).isEqualTo(SIZE);
            other.client.disconnect();
        }
        assertThat(recorded("")).isEmpty();
    }
}
