// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import io.rpma.tools.WithTools;
import java.nio.ByteBuffer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each side of {@code ping} on a device, with another side that breaks the protocol. {@code ToolsIT} has the two sides.
 */
@Tag("processes")
class PingIT extends WithTools {
    private static final int SIZE = 64;

    /** More than the answers that the listening side can have under way. */
    private static final int MANY = 64;

    /** Runs a client whose answers are never too late on a busy machine. */
    private Jvm.Running ping(String... more) {
        return start(Stream.concat(Stream.of("ping", address, "-p", port, "-W", "600"), Stream.of(more))
                .toArray(String[]::new));
    }

    /**
     * Runs a client whose first message is answered with other bits of the last byte. Then the connection is closed.
     *
     * @param bits the bits that differ; 0 for the right answer
     * @param status the expected status of the client
     * @return the output of the client
     */
    private String answerOnce(int bits, int status, String... more) throws InterruptedException {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
                RpmaEp endpoint = RpmaEp.listen(peer, address, Integer.parseInt(port))) {
            Jvm.Running client = ping(more);
            RpmaConnReq request = endpoint.nextConnReq(null);
            request.recv(region, 0, SIZE, 0);
            try (RpmaConn conn = request.connect(PingMessage.privateData(SIZE))) {
                assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.ESTABLISHED);
                awaitSuccess(conn);
                ByteBuffer message = memory.buffer(0, SIZE);
                message.put(SIZE - 1, (byte) (message.get(SIZE - 1) ^ bits));
                conn.send(region, 0, SIZE, RpmaConn.F_COMPLETION_ALWAYS, 0);
                awaitSuccess(conn);
            }
            return assertEnds(client, status).out();
        }
    }

    private static void awaitSuccess(RpmaConn conn) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        conn.getCq().await(completions);
        assertThat(completions.isSuccess(0)).as(completions.toString()).isTrue();
    }

    @Test
    void anAnswerWithAWrongBit() throws Exception {
        assertThat(answerOnce(1, 1, "--count", "1"))
                .contains(
                        "1: " + address + " port " + port
                                + ": the bytes of the answer are not the bytes of the message\n",
                        "\n1 messages of 64 bytes, 0 answered, 100 % lost\n");
    }

    /** The connection is closed during the interval. */
    @Test
    void theOtherSideClosesTheConnection() throws Exception {
        assertThat(answerOnce(0, 0, "--count", "2", "--interval", "10"))
                .contains(
                        "1: 64 bytes, time ",
                        "2: " + address + " port " + port + ": the other side has closed the connection\n",
                        "\n2 messages of 64 bytes, 1 answered, 50 % lost\n");
    }

    /** The client posts no receive, so that no answer arrives. */
    @Test
    @Tag("remote-errors")
    void aClientThatDoesNotWaitForTheAnswers() throws Exception {
        Jvm.Running server = start("ping", "--listen", address, "-p", port);
        server.awaitLine("listening at " + address + " port " + port + " through ");
        try (RpmaPeer peer = TestDevice.peer();
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND);
                RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(MANY).setCqSize(MANY);
                RpmaConn conn = RpmaConnReq.create(peer, address, Integer.parseInt(port), cfg)
                        .connect(PingMessage.privateData(SIZE))) {
            assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.ESTABLISHED);
            for (int i = 0; i < MANY; i++) {
                conn.send(region, 0, SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0);
            }
            server.awaitLine("client 1: it sends messages without a wait for the answers");
        }
        Jvm.Finished next = assertEnds(ping("--count", "1"), 0);
        assertThat(next.out()).contains("1 messages of 64 bytes, 1 answered, 0 % lost");
        server.signal("INT");
        assertThat(assertEnds(server, 0).out()).endsWith(" messages of 2 clients answered\n");
    }
}
