// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.Pair.assertPosted;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaDatagramPair.TOS;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.testing.Jvm;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Datagrams to and from {@code udaddy} of rdmacm-utils. On each connection, the client sends datagrams, and the server
 * answers with as many. The immediate data of a datagram is the number of its sender's queue pair.
 */
@Tag("processes")
@ResourceLock("udaddy's port")
class UdaddyIT {
    /** The port of udaddy, which it has no option for. No other test uses this port. */
    private static final int PORT = 7174;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    private static Jvm.Running udaddy(int connections, int count, int size, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of("udaddy", "-c", Integer.toString(connections)));
        command.addAll(List.of("-C", Integer.toString(count), "-S", Integer.toString(size)));
        command.addAll(List.of(more));
        return Jvm.command(command.toArray(new String[0]));
    }

    private static void assertSucceeds(Jvm.Running udaddy) throws InterruptedException {
        Jvm.Finished finished = udaddy.awaitEnd();
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out().lines())
                .contains("data transfers complete")
                .endsWith("test complete", "return status 0");
    }

    private final List<Node> nodes = new ArrayList<>();

    @AfterEach
    void close() {
        nodes.forEach(Node::close);
    }

    private Node node(RdmaId id, int count, int size) {
        Node node = new Node(id, count, size);
        nodes.add(node);
        return node;
    }

    /**
     * Connects to the server. Repeats requests until it listens, because it does not report when it begins to listen.
     */
    private RdmaEvent connect(Jvm.Running server, int count, int size) throws InterruptedException {
        while (true) {
            Node node = node(RdmaPair.resolved(RdmaPortSpace.UDP, PORT), count, size);
            node.id.connect(new RdmaConnParam());
            RdmaEvent event = node.id.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow();
            if (event.type() == RdmaEventType.ESTABLISHED) {
                return event;
            }
            assertThat(event.type()).isSameAs(RdmaEventType.UNREACHABLE);
            assertThat(server.process().isAlive()).as("the server runs").isTrue();
            nodes.remove(node);
            node.close();
        }
    }

    /**
     * The server answers with the bytes of its memory: the header of a datagram from here, and the first of its bytes.
     */
    @ParameterizedTest
    @CsvSource({"1, 1, 1", "1, 10, 100", "3, 20, 1000"})
    void toTheServerInC(int connections, int count, int size) throws Exception {
        try (Jvm.Running server = udaddy(connections, count, size, "-b", TestDevice.address())) {
            List<RdmaEvent> established = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                established.add(connect(server, count, size));
            }
            for (int i = 0; i < connections; i++) {
                RdmaEvent event = established.get(i);
                try (RdmaAh there = nodes.get(i).id.createAh(event)) {
                    nodes.get(i).send(there, event.qpNum(), event.qkey());
                }
            }
            for (int i = 0; i < connections; i++) {
                Node node = nodes.get(i);
                assertThat(node.receive().srcQp(0)).isEqualTo(established.get(i).qpNum());
                int echoed = Math.max(0, size - HEADER);
                assertThat(Arrays.copyOfRange(node.receivedBytes(), HEADER + size - echoed, HEADER + size))
                        .isEqualTo(Arrays.copyOf(node.sentBytes(), echoed));
            }
            assertSucceeds(server);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1", "1, 10, 100", "3, 20, 1000"})
    void fromTheClientInC(int connections, int count, int size) throws Exception {
        try (RdmaId listener = RdmaDatagramPair.listen(PORT);
                Jvm.Running client = udaddy(connections, count, size, "-s", TestDevice.address())) {
            serve(listener, connections, count, size);
            assertSucceeds(client);
        }
    }

    private void serve(RdmaId listener, int connections, int count, int size) throws InterruptedException {
        for (int i = 0; i < connections; i++) {
            Node node = node(request(listener), count, size);
            node.id.accept(new RdmaConnParam());
        }
        for (Node node : nodes) {
            RpmaCompletions last = node.receive();
            try (RdmaAh back = node.id.createAh(last, 0, node.receivedMr, 0)) {
                node.send(back, last.srcQp(0), RdmaQp.UDP_QKEY);
            }
        }
    }

    @Test
    void theTypeOfServiceOfTheClientInC() throws Exception {
        try (RdmaId listener = RdmaDatagramPair.listen(PORT);
                Jvm.Running client = udaddy(1, 1, 8, "-s", TestDevice.address(), "-t", "104")) {
            serve(listener, 1, 1, 8);
            assertThat(nodes.get(0).receivedBytes()[TOS]).isEqualTo((byte) 104);
            assertSucceeds(client);
        }
    }

    /** One connection of this side, and its memory. All its receives have the same memory, as in udaddy. */
    private static final class Node implements AutoCloseable {
        private final RdmaId id;
        private final int count;
        private final int size;
        private final RpmaMemory sent;
        private final RpmaMemory received;
        private final RdmaMr sentMr;
        private final RdmaMr receivedMr;

        /** Posts the receives, which must be posted before the connection is made. */
        Node(RdmaId id, int count, int size) {
            this.id = id;
            this.count = count;
            this.size = size;
            id.createQp(new RdmaQpInitAttr().maxSendWr(count).maxRecvWr(count));
            sent = RpmaMemory.allocate(size);
            received = RpmaMemory.allocate(HEADER + size);
            sentMr = RdmaMr.regMsgs(id, sent);
            receivedMr = RdmaMr.regMsgs(id, received);
            byte[] bytes = new byte[size];
            new SplittableRandom(id.qp().qpNum()).nextBytes(bytes);
            sent.buffer().put(0, bytes);
            for (int i = 0; i < count; i++) {
                assertPosted(id.qp().postRecv(receivedMr, 0, HEADER + size, i));
            }
        }

        void send(RdmaAh to, int remoteQpn, int remoteQkey) throws InterruptedException {
            RdmaQp qp = id.qp();
            for (int i = 0; i < count; i++) {
                assertPosted(qp.postUdSendWithImm(
                        sentMr, 0, size, RdmaQp.F_SIGNALED, to, remoteQpn, remoteQkey, qp.qpNum(), i));
            }
            for (int i = 0; i < count; i++) {
                RdmaPair.sent(qp, i);
            }
        }

        /** Waits for all datagrams of the other side, and returns the completion of the last one. */
        RpmaCompletions receive() throws InterruptedException {
            RpmaCompletions last = null;
            for (int i = 0; i < count; i++) {
                last = received(id.qp(), i);
                assertThat(last.byteLen(0)).isEqualTo(HEADER + size);
                assertThat(last.immData(0)).isEqualTo(last.srcQp(0));
            }
            return last;
        }

        byte[] sentBytes() {
            return bytes(sent);
        }

        byte[] receivedBytes() {
            return bytes(received);
        }

        private static byte[] bytes(RpmaMemory memory) {
            byte[] bytes = new byte[(int) memory.size()];
            memory.buffer().get(0, bytes);
            return bytes;
        }

        @Override
        public void close() {
            receivedMr.close();
            sentMr.close();
            id.close();
            received.close();
            sent.close();
        }
    }
}
