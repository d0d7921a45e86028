package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaPair.TIMEOUT_S;
import static io.rpma.rdmacm.RdmaPair.awaitEvent;
import static io.rpma.rdmacm.RdmaPair.get;
import static io.rpma.rdmacm.RdmaPair.inline;
import static io.rpma.rdmacm.RdmaPair.put;
import static io.rpma.rdmacm.RdmaPair.received;
import static io.rpma.rdmacm.RdmaPair.sent;
import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.TestDevice;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Datagrams to and fro. */
@Timeout(60)
class RdmaDatagramIT {
    /** Of {@code struct ibv_grh}. */
    private static final int HEADER = 40;

    private final RpmaMemory memory = RpmaMemory.allocate(4096);
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
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            client = RdmaPair.resolved(RdmaPortSpace.UDP, port);
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam().privateData(new byte[180]));
            server = RdmaPair.request(listener);
            assertThat(server.request().orElseThrow().privateData()).hasSize(180);
            server.createQp(RdmaPair.attr());
            server.accept(new RdmaConnParam().privateData(new byte[] {1, 2, 3}));
            established = awaitEvent(client, RdmaEventType.ESTABLISHED);
        }
        clientMr = RdmaMr.regMsgs(client, memory);
        serverMr = RdmaMr.regMsgs(server, memory);
    }

    private static RdmaId listen(int port) {
        RdmaId listener = RdmaId.create(RdmaPortSpace.UDP);
        listener.bindAddr(RdmaPair.address(port));
        listener.listen(0);
        return listener;
    }

    @AfterEach
    void close() {
        clientMr.close();
        serverMr.close();
        client.close();
        server.close();
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

    @Test
    void onlyDatagramsArePosted() {
        RdmaQp qp = client.qp();
        RdmaSgeList list = RdmaSgeList.create(1);
        assertThatIllegalStateException()
                .isThrownBy(() -> qp.postSend(clientMr, 0, 1, 0, 1))
                .withMessageContaining("is for datagrams");
        assertThatIllegalStateException().isThrownBy(() -> qp.postSendv(list, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postSendInline(inline("x"), 1, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postSendWithImm(clientMr, 0, 1, 0, 1, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postSendWithImmInline(inline("x"), 1, 0, 1, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postWrite(clientMr, 0, 1, 0, 0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postWritev(list, 0, 0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postWriteInline(inline("x"), 1, 0, 0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postWriteWithImm(clientMr, 0, 1, 0, 0, 0, 1, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postWriteWithImmInline(inline("x"), 1, 0, 0, 0, 1, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postRead(clientMr, 0, 1, 0, 0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postReadv(list, 0, 0, 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postFetchAndAdd(clientMr, 0, 0, 0, 0, 1, 1));
        assertThatIllegalStateException().isThrownBy(() -> qp.postCompareAndSwap(clientMr, 0, 0, 0, 0, 1, 1, 1));
    }

    @Test
    void addressHandlesAreClosedBeforeTheirId() {
        RdmaAh ah = client.createAh(established);
        clientMr.close();
        assertThatIllegalStateException()
                .isThrownBy(client::close)
                .withMessageContaining("can't be closed before " + ah);
        ah.close();
        ah.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> client.qp().postUdSendInline(inline("x"), 1, 0, ah, 1, 1))
                .withMessage("rdma_post_ud_send: " + ah + " is closed");
        clientMr = RdmaMr.regMsgs(client, memory);
    }

    @Test
    void addressHandlesAreMadeOfWhatHasAnAddress() throws InterruptedException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.createAh(server.request().orElseThrow()))
                .withMessage("CONNECT_REQUEST tells of no queue pair for datagrams");
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
            client.qp().postUdSendInline(inline("lost"), 4, F_SIGNALED, there, established.qpNum(), 1);
            sent(client.qp(), 1);
            server.qp().postRecv(serverMr, 0, 200, 2);
            client.qp().postUdSendInline(inline("here"), 4, F_SIGNALED, there, established.qpNum(), 3);
            sent(client.qp(), 3);
            received(server.qp(), 2);
            assertThat(get(memory, HEADER, 4)).isEqualTo("here");
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
            RdmaEvent event = asking.nextEvent(TIMEOUT_S, TimeUnit.SECONDS).orElseThrow();
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
            assertThat(alone.nextEvent(TIMEOUT_S, TimeUnit.SECONDS)
                            .orElseThrow()
                            .type())
                    .isSameAs(RdmaEventType.UNREACHABLE);
        }
    }
}
