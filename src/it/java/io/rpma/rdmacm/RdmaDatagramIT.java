// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaDatagramPair.listen;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.put;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.testing.Allocation;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams in both directions. */
@Tag("datagrams")
class RdmaDatagramIT {
    /** The largest MTU of any device. */
    private static final int LONGEST_PACKET = 4096;

    private static final int KEY = RdmaQp.UDP_QKEY;
    private static final RdmaInlineData EIGHT = inline("8 bytes.");

    private final RpmaMemory memory = RpmaMemory.allocate(4096);
    private RdmaDatagramPair pair;
    private RdmaId client;
    private RdmaId server;
    private RdmaEvent established;
    private RdmaMr clientMr;
    private RdmaMr serverMr;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaDatagramPair.connect(
                new RdmaConnParam().privateData(new byte[180]), new RdmaConnParam().privateData(new byte[] {1, 2, 3}));
        client = pair.client;
        server = pair.server;
        established = pair.established;
        assertThat(server.request().orElseThrow().privateData()).hasSize(180);
        clientMr = RdmaMr.regMsgs(client, memory);
        serverMr = RdmaMr.regMsgs(server, memory);
    }

    @AfterEach
    void close() {
        clientMr.close();
        serverMr.close();
        pair.close();
        memory.close();
    }

    @Test
    void goThereAndBack() throws InterruptedException {
        assertThat(established.qpNum()).isEqualTo(server.qp().qpNum());
        assertThat(Arrays.copyOf(established.privateData(), 3)).containsExactly(1, 2, 3);
        put(memory, 0, "ping");
        server.qp().postRecv(serverMr, 1000, 200, 1);
        client.qp().postRecv(clientMr, 2000, 200, 2);
        try (RdmaAh there = client.createAh(established)) {
            assertThat(client.qp().postUdSend(clientMr, 0, 4, F_SIGNALED, there, established.qpNum(), 3))
                    .isTrue();
            sent(client.qp(), 3);
            RpmaCompletions ping = received(server.qp(), 1);
            assertThat(ping.byteLen(0)).isEqualTo(HEADER + 4);
            assertThat(ping.srcQp(0)).isEqualTo(client.qp().qpNum());
            assertThat(get(memory, 1000 + HEADER, 4)).isEqualTo("ping");
            try (RdmaAh back = server.createAh(ping, 0, serverMr, 1000)) {
                assertThat(server.qp().postUdSendInline(inline("pong"), 4, F_SIGNALED, back, ping.srcQp(0), 4))
                        .isTrue();
                sent(server.qp(), 4);
            }
            received(client.qp(), 2);
            assertThat(get(memory, 2000 + HEADER, 4)).isEqualTo("pong");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 0x01020304, -1, Integer.MIN_VALUE})
    void immediateData(int imm) throws InterruptedException {
        put(memory, 0, "data");
        server.qp().postRecv(serverMr, 1000, 200, 1);
        server.qp().postRecv(serverMr, 2000, 200, 2);
        int to = established.qpNum();
        RdmaInlineData data = inline("inline");
        try (RdmaAh there = client.createAh(established)) {
            assertThat(client.qp().postUdSendWithImm(clientMr, 0, 4, F_SIGNALED, there, to, KEY, imm, 3))
                    .isTrue();
            sent(client.qp(), 3);
            assertThat(client.qp().postUdSendWithImmInline(data, 6, F_SIGNALED, there, to, KEY, imm, 4))
                    .isTrue();
            data.buffer().put(new byte[6]);
            sent(client.qp(), 4);
        }
        assertImmediate(received(server.qp(), 1), HEADER + 4, imm);
        assertImmediate(received(server.qp(), 2), HEADER + 6, imm);
        assertThat(get(memory, 1000 + HEADER, 4)).isEqualTo("data");
        assertThat(get(memory, 2000 + HEADER, 6)).isEqualTo("inline");
    }

    private static void assertImmediate(RpmaCompletions received, int length, int imm) {
        assertThat(received.byteLen(0)).isEqualTo(length);
        assertThat(received.hasImmData(0)).isTrue();
        assertThat(received.immData(0)).isEqualTo(imm);
    }

    @Test
    void aDatagramWithoutImmediateDataHasNone() throws InterruptedException {
        assertThat(pair.receive(serverMr, 0).hasImmData(0)).isFalse();
    }

    @Test
    void theEventReportsTheKey() {
        assertThat(established.qkey()).isEqualTo(RdmaQp.UDP_QKEY);
    }

    /** The datagram with the right key is the only one that arrives. */
    @Test
    void aDatagramWithAnotherKeyIsLost() throws InterruptedException {
        put(memory, 0, "lost");
        server.qp().postRecv(serverMr, 1000, 200, 1);
        int to = established.qpNum();
        RdmaInlineData lost = inline("lost");
        try (RdmaAh there = client.createAh(established)) {
            client.qp().postUdSend(clientMr, 0, 4, F_SIGNALED, there, to, KEY + 1, 3);
            client.qp().postUdSendInline(lost, 4, F_SIGNALED, there, to, KEY + 1, 4);
            client.qp().postUdSendWithImm(clientMr, 0, 4, F_SIGNALED, there, to, KEY + 1, 5, 5);
            client.qp().postUdSendWithImmInline(lost, 4, F_SIGNALED, there, to, KEY + 1, 5, 6);
            client.qp().postUdSendInline(inline("here"), 4, F_SIGNALED, there, to, established.qkey(), 7);
            for (int context = 3; context <= 7; context++) {
                sent(client.qp(), context);
            }
        }
        received(server.qp(), 1);
        assertThat(get(memory, 1000 + HEADER, 4)).isEqualTo("here");
    }

    @Test
    void onlyDatagramsArePosted() {
        RdmaPost.Arguments arguments = new RdmaPost.Arguments(client.qp(), clientMr, serverMr);
        RdmaPost.operations()
                .forEach(post -> assertThatIllegalStateException()
                        .isThrownBy(() -> post.post(arguments))
                        .as(post.method())
                        .withMessage(client.qp().object() + " is for datagrams: see postUdSend()"));
    }

    private interface Datagram {
        boolean post(RdmaQp qp, int flags, RdmaAh ah);
    }

    /** Returns posts that send the server's memory, so that the client can be closed. */
    private Datagram[] datagrams() {
        return new Datagram[] {
            (qp, flags, ah) -> qp.postUdSend(serverMr, 0, 8, flags, ah, established.qpNum(), 1),
            (qp, flags, ah) -> qp.postUdSend(serverMr, 0, 8, flags, ah, established.qpNum(), KEY, 1),
            (qp, flags, ah) -> qp.postUdSendInline(EIGHT, 8, flags, ah, established.qpNum(), 1),
            (qp, flags, ah) -> qp.postUdSendInline(EIGHT, 8, flags, ah, established.qpNum(), KEY, 1),
            (qp, flags, ah) -> qp.postUdSendWithImm(serverMr, 0, 8, flags, ah, established.qpNum(), KEY, 5, 1),
            (qp, flags, ah) -> qp.postUdSendWithImmInline(EIGHT, 8, flags, ah, established.qpNum(), KEY, 5, 1)
        };
    }

    @Test
    void everyDatagramIsTested() {
        assertThat(RdmaQp.class.getMethods())
                .extracting(Method::getName)
                .filteredOn(name -> name.startsWith("postUd"))
                .containsExactlyInAnyOrder(
                        "postUdSend",
                        "postUdSend",
                        "postUdSendInline",
                        "postUdSendInline",
                        "postUdSendWithImm",
                        "postUdSendWithImmInline")
                .hasSameSizeAs(datagrams());
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, -1, Integer.MIN_VALUE})
    void refusesUnknownFlags(int flags) {
        try (RdmaAh there = client.createAh(established)) {
            for (Datagram datagram : datagrams()) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> datagram.post(client.qp(), flags, there))
                        .withMessage("flags must be of F_SIGNALED, F_FENCE and F_SOLICITED, not " + flags);
            }
        }
    }

    @Test
    void refusesNoAddressHandleAndAClosedOne() {
        RdmaAh closed = client.createAh(established);
        closed.close();
        for (Datagram datagram : datagrams()) {
            assertThatNullPointerException()
                    .isThrownBy(() -> datagram.post(client.qp(), 0, null))
                    .withMessage("the address handle is null");
            assertThatIllegalStateException()
                    .isThrownBy(() -> datagram.post(client.qp(), 0, closed))
                    .withMessage("ibv_post_send: " + closed.object() + " is closed");
        }
    }

    @Test
    void refusesAClosedId() {
        RdmaQp closed = client.qp();
        clientMr.close();
        client.close();
        try (RdmaAh there = server.createAh(established)) {
            for (Datagram datagram : datagrams()) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> datagram.post(closed, 0, there))
                        .withMessage("ibv_post_send: " + closed.object() + " is closed");
            }
        }
    }

    private interface OfRegion {
        boolean post(RdmaMr region, long offset, long length);
    }

    private OfRegion[] ofRegion(RdmaAh ah) {
        RdmaQp qp = client.qp();
        int to = established.qpNum();
        return new OfRegion[] {
            (region, offset, length) -> qp.postUdSend(region, offset, length, 0, ah, to, 1),
            (region, offset, length) -> qp.postUdSend(region, offset, length, 0, ah, to, KEY, 1),
            (region, offset, length) -> qp.postUdSendWithImm(region, offset, length, 0, ah, to, KEY, 5, 1)
        };
    }

    @Test
    void refusesWhatIsNoPartOfAnOpenRegion() {
        long size = memory.size();
        try (RdmaAh there = client.createAh(established)) {
            for (long[] range :
                    new long[][] {{-1, 1}, {0, size + 1}, {size, 1}, {Long.MAX_VALUE, 1}, {0, -1}, {1, size}}) {
                for (OfRegion post : ofRegion(there)) {
                    assertThatExceptionOfType(IndexOutOfBoundsException.class)
                            .isThrownBy(() -> post.post(clientMr, range[0], range[1]))
                            .withMessageStartingWith("bytes " + range[0] + " to " + range[0] + " + " + range[1]);
                }
            }
            long tooLong = 1L << 31;
            for (OfRegion post : ofRegion(there)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> post.post(clientMr, 0, tooLong))
                        .withMessage(TestDevice.tooLong(tooLong));
                assertThatNullPointerException()
                        .isThrownBy(() -> post.post(null, 0, 1))
                        .withMessage("the local region is null");
            }
            clientMr.close();
            for (OfRegion post : ofRegion(there)) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> post.post(clientMr, 0, 1))
                        .withMessage("ibv_post_send: " + clientMr.object() + " is closed");
            }
        }
    }

    private interface OfInlineData {
        boolean post(RdmaInlineData data, int length);
    }

    private OfInlineData[] ofInlineData(RdmaAh ah) {
        RdmaQp qp = client.qp();
        int to = established.qpNum();
        return new OfInlineData[] {
            (data, length) -> qp.postUdSendInline(data, length, 0, ah, to, 1),
            (data, length) -> qp.postUdSendInline(data, length, 0, ah, to, KEY, 1),
            (data, length) -> qp.postUdSendWithImmInline(data, length, 0, ah, to, KEY, 5, 1)
        };
    }

    @Test
    void takesAsMuchInlineDataAsGranted() throws InterruptedException {
        RdmaQp qp = client.qp();
        int most = qp.maxInlineData();
        RdmaInlineData data = RdmaInlineData.create(most + 1);
        data.buffer().put(most - 1, (byte) 'x');
        server.qp().postRecv(serverMr, 0, HEADER + most, 1);
        try (RdmaAh there = client.createAh(established)) {
            for (OfInlineData post : ofInlineData(there)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> post.post(data, most + 1))
                        .withMessage((most + 1) + " bytes can't be posted inline: the queue pair takes " + most);
                for (int length : new int[] {-1, most + 2}) {
                    assertThatExceptionOfType(IndexOutOfBoundsException.class)
                            .isThrownBy(() -> post.post(data, length))
                            .withMessage(length + " of " + (most + 1) + " bytes");
                }
                assertThatNullPointerException()
                        .isThrownBy(() -> post.post(null, 1))
                        .withMessage("the inline data is null");
            }
            assertThat(qp.postUdSendInline(data, most, F_SIGNALED, there, established.qpNum(), 3))
                    .isTrue();
            sent(qp, 3);
            assertThat(received(server.qp(), 1).byteLen(0)).isEqualTo(HEADER + most);
            assertThat(get(memory, HEADER + most - 1, 1)).isEqualTo("x");
        }
    }

    @Test
    void moreThanAPacketIsLost() throws InterruptedException {
        assumeTrue(TestDevice.isSoft(), "devices may fail it");
        long tooLong = LONGEST_PACKET + 1;
        try (RpmaMemory large = RpmaMemory.allocate(2 * tooLong);
                RdmaMr source = RdmaMr.regMsgs(client, large);
                RdmaMr target = RdmaMr.regMsgs(server, large);
                RdmaAh there = client.createAh(established)) {
            server.qp().postRecv(target, 0, HEADER + tooLong, 1);
            assertThat(client.qp().postUdSend(source, 0, tooLong, F_SIGNALED, there, established.qpNum(), 2))
                    .isTrue();
            client.qp().postUdSendInline(inline("short"), 5, F_SIGNALED, there, established.qpNum(), 3);
            sent(client.qp(), 2);
            sent(client.qp(), 3);
            assertThat(received(server.qp(), 1).byteLen(0)).isEqualTo(HEADER + 5);
        }
    }

    @Test
    void nothingIsAllocatedByAPostOrPoll() {
        RdmaQp from = client.qp();
        RdmaQp to = server.qp();
        int remoteQpn = established.qpNum();
        RdmaInlineData data = inline("datagram");
        RpmaCompletions completions = RpmaCompletions.create(4);
        ToIntFunction<RpmaCompletions> sendQueue = from::pollSendComp;
        ToIntFunction<RpmaCompletions> recvQueue = to::pollRecvComp;
        try (RdmaAh there = client.createAh(established)) {
            Allocation.assertNone(() -> {
                boolean posted = to.postRecv(serverMr, 0, 200, 1)
                        & to.postRecv(serverMr, 200, 200, 2)
                        & from.postUdSend(clientMr, 400, 8, F_SIGNALED, there, remoteQpn, 3)
                        & from.postUdSendInline(data, 8, F_SIGNALED, there, remoteQpn, 4)
                        & to.postRecv(serverMr, 0, 200, 5)
                        & to.postRecv(serverMr, 200, 200, 6)
                        & from.postUdSendWithImm(clientMr, 400, 8, F_SIGNALED, there, remoteQpn, KEY, 1, 7)
                        & from.postUdSendWithImmInline(data, 8, F_SIGNALED, there, remoteQpn, KEY, 1, 8);
                if (!posted) {
                    throw new AssertionError("a queue is full");
                }
                RdmaPair.take(4, sendQueue, completions);
                RdmaPair.take(4, recvQueue, completions);
            });
        }
    }

    @Test
    void addressHandlesAreClosedBeforeTheirId() {
        RdmaAh ah = client.createAh(established);
        clientMr.close();
        assertThatIllegalStateException()
                .isThrownBy(client::close)
                .withMessageContaining("can't be closed before " + ah.object());
        ah.close();
        ah.close();
        clientMr = RdmaMr.regMsgs(client, memory);
    }

    @Test
    void addressHandlesAreMadeOfWhatHasAnAddress() throws InterruptedException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.createAh(server.request().orElseThrow()))
                .withMessage("CONNECT_REQUEST reports no queue pair for datagrams");
        RpmaCompletions none = RpmaCompletions.create(1);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> server.createAh(none, 0, serverMr, 0));
        server.qp().postRecv(serverMr, 0, 200, 1);
        try (RdmaAh there = client.createAh(established)) {
            client.qp().postUdSendInline(inline("x"), 1, F_SIGNALED, there, established.qpNum(), 3);
            sent(client.qp(), 3);
        }
        RpmaCompletions completion = received(server.qp(), 1);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> server.createAh(completion, 0, serverMr, memory.size() - HEADER + 1));
    }

    @Test
    void withoutAReceiveADatagramIsLost() throws InterruptedException {
        try (RdmaAh there = client.createAh(established)) {
            int many = 50;
            for (int i = 0; i < many; i++) {
                client.qp().postUdSendInline(inline("lost"), 4, F_SIGNALED, there, established.qpNum(), 1);
                sent(client.qp(), 1);
            }
            // a completion means that a datagram has left: the last ones may arrive after the receive is posted
            int late = -1;
            do {
                late++;
                server.qp().postRecv(serverMr, 0, 200, 2);
                client.qp().postUdSendInline(inline("here"), 4, F_SIGNALED, there, established.qpNum(), 3);
                sent(client.qp(), 3);
                received(server.qp(), 2);
            } while (get(memory, HEADER, 4).equals("lost"));
            assertThat(get(memory, HEADER, 4)).isEqualTo("here");
            assertThat(late).isLessThan(many);
        }
    }

    @Test
    void privateDataThatIsTooLongIsRefused() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId asking = RdmaPair.resolved(RdmaPortSpace.UDP, port)) {
            asking.createQp(RdmaPair.attr());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> asking.connect(new RdmaConnParam().privateData(new byte[181])))
                    .withMessage("rdma_connect takes at most 180 bytes of private data here, not 181");
            asking.connect(new RdmaConnParam());
            try (RdmaId asked = RdmaPair.request(listener)) {
                asked.createQp(RdmaPair.attr());
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> asked.accept(new RdmaConnParam().privateData(new byte[137])))
                        .withMessage("rdma_accept takes at most 136 bytes of private data here, not 137");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> asked.reject(new byte[137]))
                        .withMessage("rdma_reject takes at most 136 bytes of private data here, not 137");
                asked.accept(new RdmaConnParam().privateData(fullOf(136)));
                assertThat(awaitEvent(asking, RdmaEventType.ESTABLISHED).privateData())
                        .isEqualTo(fullOf(136));
            }
        }
    }

    @Test
    void aRejectionHasPrivateDataToo() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId asking = RdmaPair.resolved(RdmaPortSpace.UDP, port)) {
            asking.createQp(RdmaPair.attr());
            asking.connect(new RdmaConnParam());
            try (RdmaId asked = RdmaPair.request(listener)) {
                asked.reject(fullOf(136));
            }
            RdmaEvent event = asking.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow();
            assertThat(event.type()).isSameAs(RdmaEventType.UNREACHABLE);
            assertThat(event.privateData()).isEqualTo(fullOf(136));
        }
    }

    private static byte[] fullOf(int length) {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) length);
        return data;
    }

    @Test
    void nobodyListens() throws InterruptedException {
        try (RdmaId alone = RdmaPair.resolved(RdmaPortSpace.UDP, TestDevice.port())) {
            alone.createQp(RdmaPair.attr());
            alone.connect(new RdmaConnParam());
            assertThat(alone.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow().type())
                    .isSameAs(RdmaEventType.UNREACHABLE);
        }
    }
}
