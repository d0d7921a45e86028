// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each of librpma's examples in DRAM, with a JVM for each side: the exit status and the output. */
@Tag("processes")
class ExamplesIT extends ExampleSides {

    /** The time that servers wait for another client: long enough for a few JVMs to start on a busy machine. */
    private static final String IDLE_S = "30";

    /** The lines of one side of a ping-pong. */
    private static String[] game(String firstWord, String secondWord, int exchanges) {
        return Stream.iterate(7, value -> value + 1)
                .limit(exchanges)
                .flatMap(value -> Stream.of(firstWord + ": " + value, secondWord + ": " + (value + 1)))
                .toArray(String[]::new);
    }

    private static String[] clientGame(String who, int exchanges) {
        return game(who + " sent", who + " received", exchanges);
    }

    private static String[] serverGame(String who, int exchanges) {
        return game(who + " received", who + " sent", exchanges);
    }

    @Test
    @Tag("library")
    void connection() throws InterruptedException {
        try (Jvm.Running server = start(Example01ConnectionServer.class);
                Jvm.Running client = start(Example01ConnectionClient.class)) {
            assertPrints(client, "Received a message: Hello client!");
            assertPrints(server, "Received a message: Hello server!");
        }
    }

    @Test
    void readToVolatile() throws InterruptedException {
        try (Jvm.Running server = start(Example02ReadToVolatileServer.class);
                Jvm.Running client = start(Example02ReadToVolatileClient.class)) {
            assertPrints(client, "Read a message: Hello client!");
            assertPrints(server);
        }
    }

    @Test
    void readToPersistentInDram() throws InterruptedException {
        try (Jvm.Running server = start(Example03ReadToPersistentServer.class);
                Jvm.Running client = start(Example03ReadToPersistentClient.class)) {
            assertPrints(client, GREETED);
            assertPrints(server, NEW_VALUE);
        }
    }

    @Test
    void writeToPersistentInDram() throws InterruptedException {
        try (Jvm.Running server = start(Example04WriteToPersistentServer.class);
                Jvm.Running client = start(Example04WriteToPersistentClient.class)) {
            assertPrints(client, GREETED);
            assertPrints(server, NEW_VALUE);
        }
    }

    @Test
    @Tag("library")
    void flushToPersistentInDram() throws InterruptedException {
        try (Jvm.Running server = start(Example05FlushToPersistentServer.class);
                Jvm.Running client = start(Example05FlushToPersistentClient.class)) {
            assertPrints(
                    client,
                    NEXT_VALUE,
                    "RPMA_FLUSH_TYPE_PERSISTENT is NOT supported, RPMA_FLUSH_TYPE_VISIBILITY is used instead",
                    TRANSLATING,
                    TRANSLATION);
            assertPrints(server, NEW_VALUE);
        }
    }

    @Test
    void multipleConnections() throws InterruptedException {
        assertReadsNames(Example06MultipleConnectionsServer.class, Example06MultipleConnectionsClient.class);
    }

    @Test
    void multipleConnectionsWithSharedChannels() throws InterruptedException {
        assertReadsNames(Example06scchMultipleConnectionsServer.class, Example06scchMultipleConnectionsClient.class);
    }

    private void assertReadsNames(Class<?> serverProgram, Class<?> clientProgram) throws InterruptedException {
        try (Jvm.Running server = start(serverProgram, IDLE_S);
                Jvm.Running chet = start(clientProgram, "8");
                Jvm.Running piotr = start(clientProgram, "9");
                Jvm.Running lukasz = start(clientProgram, "12")) {
            assertPrints(chet, "My names is: Chet");
            assertPrints(piotr, "My names is: Piotr");
            assertPrints(lukasz, "My names is: Lukasz");
            Jvm.Finished end = assertEnds(server);
            assertThat(end.out()).startsWith("Today I have got in touch with:\n");
            assertThat(end.out().lines().skip(1)).containsExactlyInAnyOrder("- Chet", "- Piotr", "- Lukasz");
            assertThat(end.err()).endsWith("Server timed out.\n");
        }
    }

    /** A client that takes no event does not complete its handshake, and keeps its slot. */
    @ParameterizedTest
    @ValueSource(classes = {Example06MultipleConnectionsServer.class, Example06scchMultipleConnectionsServer.class})
    @Tag("infiniband-cm")
    void theEleventhClientIsRejected(Class<?> program) throws InterruptedException {
        String name = "one of eleven";
        List<RpmaConn> conns = new ArrayList<>();
        try (Jvm.Running server = start(program, IDLE_S);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.allocate(MultipleConnections.NAME_SIZE);
                RpmaMrLocal mr = peer.register(memory, RpmaMrUsage.READ_SRC)) {
            memory.buffer().put(Common.bytes(name));
            server.awaitLine("Today");
            try {
                for (int i = 0; i < 11; i++) {
                    conns.add(RpmaConnReq.create(peer, address, port, null)
                            .connect(CommonData.of(mr, 0).toBytes()));
                }
                assertEvent(conns.remove(10), RpmaConnEvent.REJECTED).close();
                for (RpmaConn conn : conns) {
                    assertEvent(conn, RpmaConnEvent.ESTABLISHED);
                    assertEvent(conn, RpmaConnEvent.CLOSED);
                    conn.disconnect();
                }
            } finally {
                conns.forEach(RpmaConn::close);
            }
            assertThat(assertEnds(server).out().lines().skip(1)).hasSize(10).containsOnly("- " + name);
        }
    }

    private static RpmaConn assertEvent(RpmaConn conn, RpmaConnEvent event) throws InterruptedException {
        assertThat(conn.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS)).contains(event);
        return conn;
    }

    @Test
    void atomicWriteInDram() throws InterruptedException {
        try (Jvm.Running server = start(Example07AtomicWriteServer.class);
                Jvm.Running client = start(Example07AtomicWriteClient.class, "1st_word", "2nd_word", "3rd_word")) {
            assertPrints(client, "used value: 16");
            assertPrints(server, "1st_word", "2nd_word", "3rd_word");
        }
    }

    @Test
    @Tag("library")
    void messagesPingPong() throws InterruptedException {
        try (Jvm.Running server = start(Example08MessagesPingPongServer.class);
                Jvm.Running client = start(Example08MessagesPingPongClient.class, "7", "40")) {
            assertPrints(client, clientGame("Value", 39));
            assertPrints(server, serverGame("Value", 39));
        }
    }

    /** Enough rounds to fill the send queue if nobody took its completions. */
    @Test
    void messagesPingPongWithSharedReceiveQueue() throws InterruptedException {
        try (Jvm.Running server = start(Example08srqSimpleMessagesPingPongWithSrqServer.class);
                Jvm.Running client = start(Example08srqSimpleMessagesPingPongWithSrqClient.class, "7", "40")) {
            assertPrints(client, clientGame("Value", 40));
            assertPrints(server, serverGame("Value", 40));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"m", "r"})
    void messagesPingPongWithSharedReceiveQueueAndQueuesOfTheConnection(String where) throws InterruptedException {
        try (Jvm.Running server = start(Example08srqSimpleMessagesPingPongWithSrqServer.class, where);
                Jvm.Running client = start(Example08srqSimpleMessagesPingPongWithSrqClient.class, "7", "40", "1")) {
            assertPrints(client, clientGame("Value", 40));
            assertPrints(server, serverGame("Value", 40));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Example08MessagesPingPongServer.class, Example12scchReceiveCompletionQueueServer.class})
    void aClientThatDiesEndsTheServer(Class<?> program) throws InterruptedException {
        String minute = "60000000";
        try (Jvm.Running server = start(program);
                Jvm.Running client = start(Example08MessagesPingPongClient.class, "7", "3", minute)) {
            client.awaitLine("Value received: 8");
            client.kill();
            Jvm.Finished end = server.awaitEnd();
            assertThat(end.status()).as(end.toString()).isEqualTo(1);
            assertThat(end.err()).contains("error: the other side is gone: ");
        }
    }

    private void assertMakesPersistentInDram(Class<?> serverProgram, Class<?> clientProgram)
            throws InterruptedException {
        try (Jvm.Running server = start(serverProgram);
                Jvm.Running client = start(clientProgram)) {
            assertPrints(client, GREETED);
            assertPrints(server, "Flush request received: {offset: 0x0, length: 0x400, op_context: 0xF01D}", NEW_VALUE);
        }
    }

    @Test
    void flushByTheServerInDram() throws InterruptedException {
        assertMakesPersistentInDram(
                Example09FlushToPersistentGPSPMServer.class, Example09FlushToPersistentGPSPMClient.class);
    }

    @Test
    void flushByTheServerWithSharedChannelInDram() throws InterruptedException {
        assertMakesPersistentInDram(
                Example09scchFlushToPersistentGPSPMServer.class, Example09scchFlushToPersistentGPSPMClient.class);
    }

    @Test
    @Tag("immediate-data")
    void sendWithImm() throws InterruptedException {
        try (Jvm.Running server = start(Example10SendWithImmServer.class);
                Jvm.Running client = start(Example10SendWithImmClient.class, "1234", "1st_word")) {
            assertPrints(client, "Sending value '1st_word' with immediate data '1234'");
            assertPrints(server, "Received value '1st_word' with immediate data '1234'");
        }
    }

    @Test
    @Tag("immediate-data")
    void sendImmediateDataAlone() throws InterruptedException {
        try (Jvm.Running server = start(Example10SendWithImmServer.class);
                Jvm.Running client = start(Example10SendWithImmClient.class, "4294967295")) {
            assertPrints(client, "Sending immediate data '4294967295'");
            assertPrints(server, "Received value '' with immediate data '4294967295'");
        }
    }

    @Test
    @Tag("immediate-data")
    @Tag("library")
    void writeWithImm() throws InterruptedException {
        try (Jvm.Running server = start(Example11WriteWithImmServer.class);
                Jvm.Running client = start(Example11WriteWithImmClient.class, "4294967295")) {
            assertPrints(client, "Writing value '4294967295' with immediate data '4294967295'");
            assertPrints(server, "The value '4294967295' was written together with immediate data '4294967295'");
        }
    }

    @Test
    void receiveCompletionQueue() throws InterruptedException {
        try (Jvm.Running server = start(Example12ReceiveCompletionQueueServer.class);
                Jvm.Running client = start(Example12ReceiveCompletionQueueClient.class, "7", "40")) {
            assertPrints(client, clientGame("CLIENT: Value", 39));
            assertPrints(server, serverGame("SERVER: Value", 39));
        }
    }

    @Test
    void receiveCompletionQueueWithSharedChannel() throws InterruptedException {
        try (Jvm.Running server = start(Example12scchReceiveCompletionQueueServer.class);
                Jvm.Running client = start(Example12scchReceiveCompletionQueueClient.class, "7", "40")) {
            assertPrints(client, clientGame("CLIENT: Value", 39));
            assertPrints(server, serverGame("SERVER: Value", 39));
        }
    }

    @Test
    void severalClientsWithASharedReceiveQueue() throws InterruptedException {
        Class<?> clientProgram = Example13MessagesPingPongWithSrqClient.class;
        try (Jvm.Running server = start(Example13MessagesPingPongWithSrqServer.class, IDLE_S);
                Jvm.Running first = start(clientProgram, "7", "20");
                Jvm.Running second = start(clientProgram, "7", "20");
                Jvm.Running third = start(clientProgram, "7", "20")) {
            for (Jvm.Running client : List.of(first, second, third)) {
                assertPrints(client, clientGame("[client #" + client.process().pid() + "] value", 20));
            }
            List<String> lines = assertEnds(server).out().lines().collect(Collectors.toList());
            assertThat(lines.subList(0, 4))
                    .containsExactly(
                            "The client #1 has been connected.",
                            "The client #2 has been connected.",
                            "The client #3 has been connected.",
                            "Server ended listening.");
            // The lines of one connection are in order.
            String ofConnection = " from the connection ";
            assertThat(lines.stream()
                            .skip(4)
                            .collect(Collectors.groupingBy(line -> line.substring(line.indexOf(ofConnection))))
                            .values())
                    .hasSize(3)
                    .allSatisfy(game -> assertThat(game)
                            .extracting(line -> line.substring(0, line.indexOf(ofConnection)))
                            .containsExactly(serverGame("[server] value", 20)));
        }
    }

    /** The messages after the last one take the receives of the other client, which plays nevertheless. */
    @Test
    @Tag("remote-errors")
    void aClientThatSendsAfterItsLastMessage() throws InterruptedException {
        try (Jvm.Running server = start(Example13MessagesPingPongWithSrqServer.class, "5");
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                Messages messages = new Messages(peer, PingPong.SIZE);
                RpmaConn tireless = Common.connect(peer, address, port, null, new byte[0]);
                RpmaConn fair = Common.connect(peer, address, port, null, new byte[0])) {
            for (long value : new long[] {PingPong.I_M_DONE, 7, PingPong.I_M_DONE}) {
                messages.send(tireless, PingPong.bytes(value));
                Events.of(tireless).await(RpmaWcOpcode.SEND);
            }
            new PingPong("fair", fair, Events.of(fair), messages).play(7, 2, 0);
            Jvm.Finished end = assertEnds(server);
            assertThat(end.out().lines().skip(3).map(line -> line.substring(0, line.indexOf(" from the connection "))))
                    .containsExactly(serverGame("[server] value", 2));
            assertThat(end.err().lines().filter(line -> line.startsWith("A message after the last one")))
                    .hasSize(2);
        }
    }

    @Test
    @Tag("immediate-data")
    void theScriptRunsBothSides() throws Exception {
        assertThat(Tool.run(
                        "env", "RPMA_ADDRESS=" + address, "src/apps/examples/run", "11-write-with-imm", "both", "4711"))
                .contains(
                        "Writing value '4711' with immediate data '4711'\n",
                        "The value '4711' was written together with immediate data '4711'\n");
    }
}
