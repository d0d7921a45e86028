// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaObjects;
import io.rpma.testing.RandomCalls;
import io.rpma.testing.RandomCalls.Choice;
import io.rpma.testing.RandomCalls.Nothing;
import io.rpma.testing.RandomCalls.Slots;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random calls of librdmacm's verbs. */
@Tag("soak")
@Tag("datagrams")
@Tag("stand-in")
class RdmaRandomCallsIT {
    private static final Class<RpmaException> FAILS = RpmaException.class;
    private static final Class<InterruptedException> INTERRUPTED = InterruptedException.class;
    private static final int HANDSHAKE_MS = 100;
    private static final int PORTS = 4;
    private static final RdmaPost[] RECORDED = RdmaPost.recorded().toArray(RdmaPost[]::new);

    private final RandomCalls calls = new RandomCalls(100_000);
    private final Slots<RpmaMemory> memories = calls.new Slots<>(4);
    private final Slots<RdmaId> ids = calls.new Slots<>(8);
    private final Slots<RdmaId> listeners = calls.new Slots<>(4);
    private final Slots<RdmaQp> qps = calls.new Slots<>(8);
    private final Slots<RdmaMr> mrs = calls.new Slots<>(6);
    private final Slots<RdmaSrq> srqs = calls.new Slots<>(3);
    private final Slots<RdmaAh> ahs = calls.new Slots<>(3);
    private final Slots<RdmaEvent> events = calls.new Slots<>(4);
    private final Slots<RdmaAddrInfo> infos = calls.new Slots<>(3);
    private final Slots<RpmaEventLoop> loops = calls.new Slots<>(2);
    private final Slots<RpmaEventLoop.Registration> registrations = calls.new Slots<>(8);

    /** Several threads use a batch at the same time, although the contract forbids it. */
    private final Slots<RdmaBatch> batches = calls.new Slots<>(4);

    private final Slots<RdmaPreparedBatch> prepared = calls.new Slots<>(4);

    private String address;
    private int firstPort;

    @BeforeEach
    void findDevice() {
        address = TestDevice.address();
        firstPort = TestDevice.ports(PORTS);
    }

    private int port(Choice c) {
        return firstPort + c.random.nextInt(PORTS);
    }

    private InetSocketAddress socketAddress(Choice c) {
        return c.maybeNull(new InetSocketAddress(c.oneIn(32) ? "192.0.2.1" : address, port(c)));
    }

    private InetSocketAddress source(Choice c) {
        return new InetSocketAddress(c.oneIn(32) ? "192.0.2.1" : address, c.oneIn(4) ? port(c) : 0);
    }

    private static RdmaPortSpace space(Choice c) {
        return c.oneIn(4) ? RdmaPortSpace.UDP : RdmaPortSpace.TCP;
    }

    private RdmaQpInitAttr attr(Choice c) throws Nothing {
        RdmaQpInitAttr attr = new RdmaQpInitAttr()
                .maxSendWr(c.oneIn(32) ? Integer.MAX_VALUE : 1 + c.random.nextInt(20))
                .maxRecvWr(1 + c.random.nextInt(20))
                .maxSendSge(1 + c.random.nextInt(4))
                .maxRecvSge(1 + c.random.nextInt(4))
                .maxInlineData(c.random.nextInt(100))
                .sigAll(c.oneIn(2));
        return c.maybeNull(c.oneIn(8) ? attr.srq(srqs.any(c)) : attr);
    }

    private static RdmaConnParam param(Choice c) {
        return c.maybeNull(new RdmaConnParam()
                .privateData(c.bytes(c.oneIn(4) ? 255 : 56))
                .rnrRetryCount(1)
                .initiatorDepth(c.oneIn(4) ? c.random.nextInt(256) : RdmaConnParam.MAX));
    }

    private static ByteBuffer buffer(Choice c) {
        int size = c.random.nextInt(64);
        return c.maybeNull(c.oneIn(8) ? ByteBuffer.allocate(size) : ByteBuffer.allocateDirect(size));
    }

    private static RdmaInlineData inline(Choice c) {
        return c.maybeNull(RdmaInlineData.create(1 + c.random.nextInt(c.oneIn(8) ? 5000 : 64)));
    }

    private RdmaSgeList list(Choice c) throws Nothing {
        RdmaSgeList list = RdmaSgeList.create(4);
        for (int parts = c.random.nextInt(5); parts > 0; parts--) {
            list.add(mrs.any(c), c.number(), c.number());
        }
        return c.maybeNull(list);
    }

    private static int flags(Choice c) {
        return c.oneIn(16) ? c.random.nextInt() : c.random.nextInt(8);
    }

    /** Returns a remote address, mostly of a region of the test. The device checks every address. */
    private long remote(Choice c) throws Nothing {
        return c.oneIn(64) ? c.number() : mrs.one(c).address() + 8 * c.random.nextInt(8);
    }

    private int key(Choice c) throws Nothing {
        return c.oneIn(64) ? c.random.nextInt() : mrs.one(c).rkey();
    }

    @Test
    void nothingButTheDocumentedExceptions() throws Exception {
        RdmaPair.connect().close();
        addIds();
        addConnecting();
        addRegions();
        addPosts();
        addBatches();
        addCompletions();
        addEventLoops();
        calls.run();
        calls.assertSucceeded(
                "handshake",
                "datagrams",
                "RdmaId.resolveAddr from a source",
                "RdmaId.createSrq",
                "RdmaId.createAh",
                "RdmaMr.reg of a buffer",
                "RdmaMr.reg of an address",
                "RdmaMr.regMsgs of a buffer",
                "postWrite",
                "postWritev",
                "postWriteInline",
                "postRead",
                "postReadv",
                "postSend",
                "postSendv",
                "postRecv",
                "postRecvv",
                "postCompareAndSwap",
                "postFetchAndAdd",
                "postUdSend",
                "postUdSendInline",
                "postUdSendWithImm",
                "postUdSendWithImmInline",
                "RdmaSrq.postRecv",
                "RdmaSrq.postRecvv",
                "RdmaBatch.record",
                "RdmaBatch.recv",
                "RdmaBatch.post of some",
                "RdmaPreparedBatch.post",
                "pollSendComp",
                "getSendComp without end",
                "getRecvComp without end",
                "getSolicitedRecvComp without end");
    }

    private void addIds() {
        calls.add(2, "RdmaId.create", c -> ids.put(c, RdmaId.create(c.maybeNull(space(c)))), FAILS);
        calls.add(2, "RdmaId.close", c -> ids.one(c).close(), FAILS);
        calls.add(
                1,
                "RpmaObjects.closeAll",
                c -> RpmaObjects.closeAll(List.of(ids.one(c), mrs.one(c), ids.one(c), ahs.one(c), mrs.one(c))),
                FAILS);
        calls.add(2, "listen", this::listen, FAILS);
        calls.add(1, "listener.close", c -> listeners.one(c).close(), FAILS);
        calls.add(
                2,
                "RdmaAddrInfo.active",
                c -> infos.put(c, RdmaAddrInfo.active(address, port(c), c.maybeNull(space(c)))),
                FAILS);
        calls.add(2, "RdmaAddrInfo.passive", c -> infos.put(c, RdmaAddrInfo.passive(null, 0, space(c))), FAILS);
        calls.add(1, "RdmaAddrInfo.close", c -> infos.one(c).close());
        calls.add(2, "RdmaAddrInfo.address", c -> infos.one(c).address());
        calls.add(2, "RdmaId.createEp", c -> ids.put(c, RdmaId.createEp(infos.any(c), attr(c))), FAILS);
        calls.add(2, "RdmaId.createQp", c -> qps.put(c, ids.one(c).createQp(attr(c))), FAILS);
        calls.add(1, "RdmaId.qp", c -> qps.put(c, ids.one(c).qp()));
        calls.add(
                2,
                "RdmaId.createSrq",
                c -> srqs.put(c, ids.one(c).createSrq(c.size(), 1 + c.random.nextInt(3))),
                FAILS);
        calls.add(1, "RdmaId.localAddr", c -> ids.one(c).localAddr());
        calls.add(1, "RdmaId.peerAddr", c -> ids.one(c).peerAddr());
        calls.add(2, "leftover", c -> calls.retireLeftover());
        calls.add(8, "toString", calls::describeOne);
        calls.add(1, "interrupt", calls::interruptOne);
    }

    private void listen(Choice c) throws Exception {
        RdmaId id = RdmaId.create(space(c));
        listeners.put(c, id);
        id.bindAddr(socketAddress(c));
        id.listen(c.size());
    }

    private void addConnecting() {
        calls.add(2, "RdmaId.bindAddr", c -> ids.one(c).bindAddr(socketAddress(c)), FAILS);
        calls.add(1, "RdmaId.setReuseAddr", c -> ids.one(c).setReuseAddr(c.oneIn(2)), FAILS);
        calls.add(1, "RdmaId.setTos", c -> ids.one(c).setTos(c.random.nextInt(-1, 257)), FAILS);
        calls.add(1, "RdmaId.setAckTimeout", c -> ids.one(c).setAckTimeout(c.random.nextInt(-1, 33)), FAILS);
        calls.add(
                2,
                "RdmaId.resolveAddr",
                c -> ids.one(c).resolveAddr(null, socketAddress(c), c.random.nextInt(-1, 100)),
                FAILS);
        calls.add(
                2,
                "RdmaId.resolveAddr from a source",
                c -> ids.one(c).resolveAddr(source(c), socketAddress(c), c.random.nextInt(-1, 100)),
                FAILS);
        calls.add(2, "RdmaId.resolveRoute", c -> ids.one(c).resolveRoute(c.random.nextInt(-1, 100)), FAILS);
        calls.add(1, "RdmaId.listen", c -> ids.one(c).listen(c.size()), FAILS);
        calls.add(2, "RdmaId.connect", c -> ids.one(c).connect(param(c)), FAILS);
        calls.add(2, "RdmaId.accept", c -> ids.one(c).accept(param(c)), FAILS);
        calls.add(1, "RdmaId.reject", c -> ids.one(c).reject(c.bytes(c.oneIn(4) ? 300 : 148)), FAILS);
        calls.add(1, "RdmaId.disconnect", c -> ids.one(c).disconnect(), FAILS);
        calls.add(4, "RdmaId.nextEvent", this::nextEvent, FAILS, INTERRUPTED);
        calls.add(
                1, "RdmaId.nextEvent without end", c -> events.put(c, ids.one(c).nextEvent()), FAILS, INTERRUPTED);
        calls.add(
                2,
                "RdmaId.awaitEvent",
                c -> events.put(c, ids.one(c).awaitEvent(c.of(RdmaEventType.values()), c.timeout(), c.unit())),
                FAILS,
                INTERRUPTED);
        calls.add(4, "RdmaId.getRequest", c -> request(c, listeners.one(c)), FAILS, INTERRUPTED);
        calls.add(1, "RdmaId.getRequest of any", c -> request(c, ids.one(c)), FAILS, INTERRUPTED);
        calls.add(10, "handshake", this::handshake, FAILS, INTERRUPTED);
        calls.add(10, "datagrams", this::datagrams, FAILS, INTERRUPTED);
        calls.add(2, "RdmaId.createAh", c -> ahs.put(c, ids.one(c).createAh(events.any(c))), FAILS);
        calls.add(
                1,
                "RdmaId.createAh of completion",
                c -> ahs.put(c, ids.one(c).createAh(c.completions, c.size(), mrs.any(c), c.number())),
                FAILS);
        calls.add(1, "RdmaAh.close", c -> ahs.one(c).close(), FAILS);
    }

    private void nextEvent(Choice c) throws Exception {
        Optional<RdmaEvent> event = ids.one(c).nextEvent(c.timeout(), c.unit());
        if (event.isPresent()) {
            events.put(c, event.get());
        }
    }

    private void request(Choice c, RdmaId listener) throws Exception {
        Optional<RdmaId> request = listener.getRequest(c.timeout(), c.unit());
        if (request.isPresent()) {
            ids.put(c, request.get());
        }
    }

    /** Makes both sides of a connection, which get established if no other thread interferes. */
    private void handshake(Choice c) throws Exception {
        Ends ends = connect(c, RdmaPortSpace.TCP);
        ends.server.awaitEvent(RdmaEventType.ESTABLISHED, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
    }

    /** Sends a datagram to a server, which gets no event, and makes the address handle for an answer. */
    private void datagrams(Choice c) throws Exception {
        Ends ends = connect(c, RdmaPortSpace.UDP);
        RdmaAh there = ends.client.createAh(ends.established);
        ahs.put(c, there);
        RdmaMr region = RdmaMr.regMsgs(ends.server, ByteBuffer.allocateDirect(RdmaDatagramPair.HEADER));
        mrs.put(c, region);
        ends.server.qp().postRecv(region, 0, RdmaDatagramPair.HEADER, c.context());
        ends.client.qp().postUdSend(region, 0, 0, 0, there, ends.established.qpNum(), c.context());
        int taken = ends.server.qp().getRecvComp(c.completions, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        c.check(taken);
        ahs.put(c, ends.server.createAh(c.completions, 0, region, 0));
    }

    private record Ends(RdmaId client, RdmaId server, RdmaEvent established) {}

    private Ends connect(Choice c, RdmaPortSpace space) throws Exception {
        RdmaId listener = listeners.one(c);
        InetSocketAddress there = listener.localAddr().orElseThrow(() -> Nothing.HERE);
        if (listener.portSpace() != space) {
            throw Nothing.HERE;
        }
        RdmaId client = RdmaId.create(space);
        ids.put(c, client);
        client.resolveAddr(null, there, HANDSHAKE_MS);
        client.awaitEvent(RdmaEventType.ADDR_RESOLVED, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        client.resolveRoute(HANDSHAKE_MS);
        client.awaitEvent(RdmaEventType.ROUTE_RESOLVED, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        qps.put(c, client.createQp(RdmaPair.attr()));
        client.connect(new RdmaConnParam().rnrRetryCount(1));
        RdmaId server = listener.getRequest(HANDSHAKE_MS, TimeUnit.MILLISECONDS).orElseThrow(() -> Nothing.HERE);
        ids.put(c, server);
        qps.put(c, server.createQp(RdmaPair.attr()));
        server.accept(new RdmaConnParam().rnrRetryCount(1));
        RdmaEvent established = client.awaitEvent(RdmaEventType.ESTABLISHED, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        events.put(c, established);
        return new Ends(client, server, established);
    }

    private static RdmaAccess[] access(Choice c) {
        return c.oneIn(8) ? new RdmaAccess[] {c.of(RdmaAccess.values())} : RdmaAccess.values();
    }

    private void addRegions() {
        calls.add(4, "RpmaMemory.allocate", c -> memories.put(c, RpmaMemory.allocate(64 + c.random.nextInt(8192))));
        calls.add(1, "RpmaMemory.close", c -> memories.one(c).close());
        calls.add(16, "RdmaMr.reg", c -> mrs.put(c, RdmaMr.reg(ids.one(c), memories.any(c), access(c))), FAILS);
        calls.add(
                4,
                "RdmaMr.reg of a part",
                c -> mrs.put(c, RdmaMr.reg(ids.one(c), memories.any(c), c.number(), c.number(), access(c))),
                FAILS);
        calls.add(2, "RdmaMr.regMsgs", c -> mrs.put(c, RdmaMr.regMsgs(ids.any(c), memories.one(c))), FAILS);
        calls.add(2, "RdmaMr.regMsgs of a buffer", c -> mrs.put(c, RdmaMr.regMsgs(ids.one(c), buffer(c))), FAILS);
        calls.add(2, "RdmaMr.reg of a buffer", c -> mrs.put(c, RdmaMr.reg(ids.one(c), buffer(c), access(c))), FAILS);
        calls.add(2, "RdmaMr.reg of an address", c -> mrs.put(c, regAddress(c)), FAILS);
        calls.add(2, "RdmaMr.regRead", c -> mrs.put(c, RdmaMr.regRead(ids.one(c), buffer(c))), FAILS);
        calls.add(2, "RdmaMr.regWrite", c -> mrs.put(c, RdmaMr.regWrite(ids.one(c), buffer(c))), FAILS);
        calls.add(2, "RdmaMr.close", c -> mrs.one(c).close(), FAILS);
    }

    /** Registers the address of a memory with that memory as owner: the device must not write elsewhere. */
    private RdmaMr regAddress(Choice c) throws Nothing {
        RpmaMemory memory = memories.one(c);
        long size = c.oneIn(16) ? -c.random.nextInt(16) : memory.size();
        return RdmaMr.reg(ids.one(c), memory.address(), size, c.maybeNull(memory), access(c));
    }

    private void addPosts() {
        calls.add(
                20,
                "postWrite",
                c -> qps.one(c).postWrite(mrs.any(c), c.number(), c.number(), flags(c), remote(c), key(c), c.context()),
                FAILS);
        calls.add(
                20, "postWritev", c -> qps.one(c).postWritev(list(c), flags(c), remote(c), key(c), c.context()), FAILS);
        calls.add(
                20,
                "postWriteInline",
                c -> qps.one(c).postWriteInline(inline(c), c.size(), flags(c), remote(c), key(c), c.context()),
                FAILS);
        calls.add(
                8,
                "postWriteWithImm",
                c -> qps.one(c)
                        .postWriteWithImm(
                                mrs.any(c), c.number(), c.number(), flags(c), remote(c), key(c), c.size(), c.context()),
                FAILS);
        calls.add(
                8,
                "postWriteWithImmInline",
                c -> qps.one(c)
                        .postWriteWithImmInline(
                                inline(c), c.size(), flags(c), remote(c), key(c), c.size(), c.context()),
                FAILS);
        calls.add(
                12,
                "postRead",
                c -> qps.one(c).postRead(mrs.any(c), c.number(), c.number(), flags(c), remote(c), key(c), c.context()),
                FAILS);
        calls.add(8, "postReadv", c -> qps.one(c).postReadv(list(c), flags(c), remote(c), key(c), c.context()), FAILS);
        calls.add(
                12,
                "postSend",
                c -> qps.one(c).postSend(mrs.any(c), c.number(), c.number(), flags(c), c.context()),
                FAILS);
        calls.add(8, "postSendv", c -> qps.one(c).postSendv(list(c), flags(c), c.context()), FAILS);
        calls.add(
                8, "postSendInline", c -> qps.one(c).postSendInline(inline(c), c.size(), flags(c), c.context()), FAILS);
        calls.add(
                4,
                "postSendWithImm",
                c -> qps.one(c).postSendWithImm(mrs.any(c), c.number(), c.number(), flags(c), c.size(), c.context()),
                FAILS);
        calls.add(
                8,
                "postSendWithImmInline",
                c -> qps.one(c).postSendWithImmInline(inline(c), c.size(), flags(c), c.size(), c.context()),
                FAILS);
        calls.add(16, "postRecv", c -> qps.one(c).postRecv(mrs.any(c), c.number(), c.number(), c.context()), FAILS);
        calls.add(8, "postRecvv", c -> qps.one(c).postRecvv(list(c), c.context()), FAILS);
        calls.add(
                8,
                "postCompareAndSwap",
                c -> qps.one(c)
                        .postCompareAndSwap(
                                mrs.any(c), c.number(), flags(c), remote(c), key(c), c.number(), 1, c.context()),
                FAILS);
        calls.add(
                8,
                "postFetchAndAdd",
                c -> qps.one(c)
                        .postFetchAndAdd(mrs.any(c), c.number(), flags(c), remote(c), key(c), c.number(), c.context()),
                FAILS);
        calls.add(
                8,
                "postUdSend",
                c -> qps.one(c)
                        .postUdSend(
                                mrs.any(c),
                                c.number(),
                                c.number(),
                                flags(c),
                                ahs.any(c),
                                c.random.nextInt(),
                                c.context()),
                FAILS);
        calls.add(
                8,
                "postUdSendInline",
                c -> qps.one(c)
                        .postUdSendInline(
                                inline(c),
                                c.size(),
                                flags(c),
                                ahs.any(c),
                                qps.one(c).qpNum(),
                                c.context()),
                FAILS);
        calls.add(
                8,
                "postUdSendWithImm",
                c -> qps.one(c)
                        .postUdSendWithImm(
                                mrs.any(c),
                                c.number(),
                                c.number(),
                                flags(c),
                                ahs.any(c),
                                qps.one(c).qpNum(),
                                c.random.nextInt(),
                                c.random.nextInt(),
                                c.context()),
                FAILS);
        calls.add(
                8,
                "postUdSendWithImmInline",
                c -> qps.one(c)
                        .postUdSendWithImmInline(
                                inline(c),
                                c.size(),
                                flags(c),
                                ahs.any(c),
                                qps.one(c).qpNum(),
                                c.random.nextInt(),
                                c.random.nextInt(),
                                c.context()),
                FAILS);
        calls.add(
                4,
                "RdmaSrq.postRecv",
                c -> srqs.one(c).postRecv(mrs.any(c), c.number(), c.number(), c.context()),
                FAILS);
        calls.add(2, "RdmaSrq.postRecvv", c -> srqs.one(c).postRecvv(list(c), c.context()), FAILS);
    }

    private void addBatches() {
        // more could exceed the JVM's limit of direct memory
        calls.add(
                2,
                "RdmaBatch.create",
                c -> batches.put(c, RdmaBatch.create(Math.min(c.size(), 64), Math.min(c.size(), 4096))));
        calls.add(32, "RdmaBatch.record", c -> c.of(RECORDED).record(batches.one(c), arguments(c)));
        calls.add(
                4,
                "RdmaBatch.recv",
                c -> batches.one(c).recv(srqs.any(c), mrs.any(c), c.number(), c.number(), c.context()));
        calls.add(4, "RdmaBatch.signalLast", c -> batches.one(c).signalLast(), NoSuchElementException.class);
        calls.add(8, "RdmaBatch.removeFirst", c -> batches.one(c).removeFirst(), NoSuchElementException.class);
        calls.add(
                8,
                "RdmaBatch.prepare",
                c -> prepared.put(c, batches.one(c).prepare()),
                NoSuchElementException.class,
                FAILS);
        calls.add(
                24,
                "RdmaPreparedBatch.post",
                c -> {
                    RdmaPreparedBatch batch = prepared.one(c);
                    batch.post();
                    assertThat(batch.posted()).isBetween(0, batch.count() - 1);
                },
                FAILS);
        calls.add(16, "RdmaPreparedBatch.setRange", c -> prepared.one(c).setRange(c.size(), c.number(), c.number()));
        calls.add(4, "RdmaPreparedBatch.setInline", c -> prepared.one(c).setInline(c.size(), inline(c), c.size()));
        calls.add(4, "RdmaPreparedBatch.setRemoteAddr", c -> prepared.one(c).setRemoteAddr(c.size(), remote(c)));
        calls.add(4, "RdmaPreparedBatch.setImm", c -> prepared.one(c).setImm(c.size(), c.random.nextInt()));
        calls.add(4, "RdmaPreparedBatch.setContext", c -> prepared.one(c).setContext(c.size(), c.context()));
        calls.add(2, "RdmaBatch.clear", c -> batches.one(c).clear());
        calls.add(24, "RdmaBatch.post", c -> batches.one(c).post(), FAILS);
        calls.add(
                24,
                "RdmaBatch.post of some",
                c -> {
                    RdmaBatch batch = batches.one(c);
                    if (batch.post() == 0) {
                        throw Nothing.HERE;
                    }
                    assertThat(batch.count()).isBetween(0, batch.capacity());
                    assertThat(batch.posted()).isBetween(0, batch.capacity());
                },
                FAILS);
    }

    private RdmaPost.Arguments arguments(Choice c) throws Nothing {
        RdmaPost.Arguments arguments = new RdmaPost.Arguments();
        arguments.qp = qps.any(c);
        arguments.region = mrs.any(c);
        arguments.parts = list(c);
        arguments.data = inline(c);
        arguments.offset = c.number();
        arguments.length = c.number();
        arguments.flags = flags(c);
        arguments.remote = remote(c);
        arguments.rkey = key(c);
        arguments.context = c.context();
        return arguments;
    }

    private void addCompletions() {
        calls.add(32, "pollSendComp", c -> c.check(qps.one(c).pollSendComp(c.completions)), FAILS);
        calls.add(16, "pollRecvComp", c -> c.check(qps.one(c).pollRecvComp(c.completions)), FAILS);
        calls.add(
                8,
                "getSendComp",
                c -> c.check(qps.one(c).getSendComp(c.completions, c.timeout(), c.unit())),
                FAILS,
                INTERRUPTED);
        calls.add(
                8,
                "getRecvComp",
                c -> c.check(qps.one(c).getRecvComp(c.completions, c.timeout(), c.unit())),
                FAILS,
                INTERRUPTED);
        calls.add(
                4,
                "getSolicitedRecvComp",
                c -> c.check(qps.one(c).getSolicitedRecvComp(c.completions, c.timeout(), c.unit())),
                FAILS,
                INTERRUPTED);
        calls.add(
                1, "getSendComp without end", c -> c.check(qps.one(c).getSendComp(c.completions)), FAILS, INTERRUPTED);
        calls.add(
                1, "getRecvComp without end", c -> c.check(qps.one(c).getRecvComp(c.completions)), FAILS, INTERRUPTED);
        calls.add(
                1,
                "getSolicitedRecvComp without end",
                c -> c.check(qps.one(c).getSolicitedRecvComp(c.completions)),
                FAILS,
                INTERRUPTED);
    }

    private void addEventLoops() {
        calls.add(1, "RpmaEventLoop.create", c -> loops.put(c, RpmaEventLoop.create()), FAILS);
        calls.add(
                4,
                "RpmaEventLoop.run",
                c -> {
                    RpmaEventLoop loop = loops.one(c);
                    loop.schedule(loop::stop, c.random.nextInt(2000), TimeUnit.MICROSECONDS);
                    loop.run();
                },
                INTERRUPTED);
        calls.add(
                2,
                "onRequest",
                c -> registrations.put(c, listeners.one(c).onRequest(loops.one(c), c.maybeNull(RdmaId::close))),
                FAILS);
        calls.add(
                2,
                "onRequest by an executor",
                c -> registrations.put(
                        c, listeners.one(c).onRequest(loops.one(c).on(c.maybeNull(Runnable::run)), RdmaId::close)),
                FAILS);
        calls.add(
                2,
                "onEvent",
                c -> registrations.put(c, ids.one(c).onEvent(loops.one(c), c.maybeNull(event -> {}))),
                FAILS);
        calls.add(
                2,
                "onSendComp",
                c -> registrations.put(c, qps.one(c).onSendComp(loops.one(c), 1 + c.random.nextInt(4), taken -> {})),
                FAILS);
        calls.add(
                3,
                "onPeerLost",
                c -> {
                    RdmaQp qp = qps.one(c);
                    c.recognise(qp.probe());
                    registrations.put(
                            c, qp.onPeerLost(loops.one(c), c.timeout(), c.timeout(), c.unit(), c.maybeNull(id -> {
                                throw new IllegalStateException("test");
                            })));
                },
                FAILS);
        calls.add(
                2,
                "onRecvComp",
                c -> registrations.put(c, qps.one(c).onRecvComp(loops.one(c), 1 + c.random.nextInt(4), taken -> {
                    throw new IllegalStateException("test");
                })),
                FAILS);
        calls.add(
                2,
                "onSolicitedRecvComp",
                c -> registrations.put(
                        c, qps.one(c).onSolicitedRecvComp(loops.one(c).on(c.maybeNull(Runnable::run)), 1, taken -> {})),
                FAILS);
        calls.add(12, "Registration.cancel", c -> registrations.one(c).cancel());
        calls.add(1, "RpmaEventLoop.close", c -> loops.one(c).close());
    }
}
