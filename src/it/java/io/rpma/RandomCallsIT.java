// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Natives;
import io.rpma.testing.Pair;
import io.rpma.testing.RandomCalls;
import io.rpma.testing.RandomCalls.Choice;
import io.rpma.testing.RandomCalls.Slots;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random calls on a device. */
@Tag("soak")
@Tag("stand-in")
class RandomCallsIT {
    private static final Class<RpmaException> FAILS = RpmaException.class;
    private static final Class<InterruptedException> INTERRUPTED = InterruptedException.class;

    /** The timeout of each step of a handshake: another thread may have closed the object that it waits for. */
    private static final int HANDSHAKE_MS = 100;

    private static final int PORTS = 4;

    private final RandomCalls calls = new RandomCalls(200_000);
    private final RandomObjects objects = new RandomObjects(calls);
    private final Slots<RpmaMrRemote> remotes = objects.remotes;
    private final Slots<RpmaConn> conns = objects.conns;
    private final Slots<RpmaPeer> peers = calls.new Slots<>(2);
    private final Slots<RpmaMrLocal> locals = calls.new Slots<>(6);
    private final Slots<RpmaSrq> srqs = calls.new Slots<>(3);
    private final Slots<Listening> eps = calls.new Slots<>(3);
    private final Slots<RpmaConnReq> reqs = calls.new Slots<>(4);
    private String address;
    private int firstPort;

    @BeforeEach
    void findDevice() {
        address = TestDevice.address();
        firstPort = TestDevice.ports(PORTS);
    }

    private int port(Choice c) {
        return c.oneIn(32) ? c.size() : firstPort + c.random.nextInt(PORTS);
    }

    private String address(Choice c) {
        return c.oneIn(32) ? c.of("", "192.0.2.1", address) : address;
    }

    @Test
    void nothingButTheDocumentedExceptions(@TempDir Path directory) throws Exception {
        // the first connection opens resources for the life of the process, which are no leaks
        Pair.connect().close();
        objects.add(directory);
        addPeers();
        addRegions();
        addSrqs();
        addConnecting();
        addPosts();
        addBatches();
        calls.run();
        calls.assertSucceeded(
                "RpmaConn.read",
                "RpmaConn.write",
                "RpmaConn.writeAtomic",
                "RpmaConn.atomicWrite",
                "RpmaConn.flush",
                "RpmaConn.send",
                "RpmaConn.recv",
                "RpmaConnReq.recv",
                "RpmaSrq.recv",
                "RpmaBatch.post",
                "RpmaCq.poll",
                "RpmaConn.await",
                "handshake");
    }

    private void addPeers() {
        calls.add(2, "RpmaPeer.create", c -> peers.put(c, TestDevice.peer()), FAILS);
        calls.add(1, "RpmaPeer.close", c -> peers.one(c).close(), FAILS);
        calls.add(
                1,
                "RpmaObjects.closeAll",
                c -> RpmaObjects.closeAll(
                        List.of(srqs.one(c), conns.one(c), locals.one(c), eps.one(c).ep, conns.one(c))),
                FAILS);
        calls.add(1, "RpmaDevice.isOdpCapable", c -> RpmaDevice.remote(address).isOdpCapable(), FAILS);
        calls.add(1, "RpmaDevice.isFlushNative", c -> peers.one(c).device().isFlushNative(), FAILS);
        calls.add(
                1, "RpmaDevice.isAtomicWriteNative", c -> peers.one(c).device().isAtomicWriteNative(), FAILS);
    }

    private void addRegions() {
        calls.add(
                16,
                "RpmaPeer.register memory",
                c -> locals.put(c, peers.one(c).register(objects.memories.any(c), c.usages())),
                FAILS);
        calls.add(
                4,
                "RpmaPeer.register part",
                c -> locals.put(c, peers.one(c).register(objects.memories.any(c), c.number(), c.number(), c.usages())),
                FAILS);
        calls.add(
                2,
                "RpmaPeer.register buffer",
                c -> {
                    ByteBuffer buffer =
                            c.oneIn(8) ? ByteBuffer.allocate(8) : ByteBuffer.allocateDirect(c.random.nextInt(256));
                    locals.put(c, peers.one(c).register(c.maybeNull(buffer), c.usages()));
                },
                FAILS);
        calls.add(
                2,
                "RpmaPeer.register address",
                c -> {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(64);
                    long length = c.oneIn(4) ? -c.random.nextInt(2) : 1 + c.random.nextInt(64);
                    locals.put(
                            c,
                            peers.one(c)
                                    .register(Natives.bufferAddress(buffer), length, c.maybeNull(buffer), c.usages()));
                },
                FAILS);
        calls.add(4, "RpmaMrLocal.close", c -> locals.one(c).close(), FAILS);
        calls.add(
                2,
                "RpmaMrLocal.advise",
                c -> locals.one(c).advise(c.number(), c.number(), c.of(RpmaMrAdvice.values()), c.oneIn(2)),
                FAILS);
        calls.add(2, "RpmaMrLocal.get", c -> {
            RpmaMrLocal local = locals.one(c);
            assertTrue(local.getPtr() > 0);
            assertTrue(local.getSize() > 0);
            local.usages();
            assertFalse(local.isPersistent());
        });
        calls.add(
                16,
                "RpmaMrLocal.getDescriptor",
                c -> remotes.put(c, RpmaMrRemote.fromDescriptor(locals.one(c).getDescriptor())));
    }

    private void addSrqs() {
        calls.add(2, "RpmaSrq.create", c -> srqs.put(c, RpmaSrq.create(peers.one(c), objects.srqCfgs.any(c))), FAILS);
        calls.add(1, "RpmaSrq.close", c -> srqs.one(c).close(), FAILS);
        calls.add(1, "RpmaConnCfg.setSrq", c -> objects.connCfgs.one(c).setSrq(srqs.any(c)));
        calls.add(8, "RpmaSrq.recv", c -> srqs.one(c).recv(locals.any(c), c.number(), c.number(), c.context()), FAILS);
        calls.add(4, "RpmaSrq.recv nothing", c -> srqs.one(c).recv(c.context()), FAILS);
        calls.add(
                4,
                "RpmaSrq.getRcq",
                c -> {
                    Optional<RpmaCq> rcq = srqs.one(c).getRcq();
                    if (rcq.isPresent()) {
                        c.check(rcq.get().await(c.completions, c.timeout(), c.unit()));
                    }
                },
                FAILS,
                INTERRUPTED);
    }

    private void addConnecting() {
        calls.add(3, "RpmaEp.listen", c -> eps.put(c, new Listening(peers.one(c), address(c), port(c))), FAILS);
        calls.add(1, "RpmaEp.close", c -> eps.one(c).ep.close(), FAILS);
        calls.add(1, "RpmaEp.getFd", c -> assertTrue(eps.one(c).ep.getFd() > 2));
        calls.add(
                4,
                "RpmaEp.nextConnReq",
                c -> {
                    Optional<RpmaConnReq> req = eps.one(c).ep.nextConnReq(cfg(c), c.timeout(), c.unit());
                    if (req.isPresent()) {
                        reqs.put(c, req.get());
                    }
                },
                FAILS,
                INTERRUPTED);
        calls.add(
                1,
                "RpmaEp.nextConnReq without end",
                c -> reqs.put(c, eps.one(c).ep.nextConnReq(cfg(c))),
                FAILS,
                INTERRUPTED);
        calls.add(
                2,
                "RpmaConnReq.create",
                c -> reqs.put(c, RpmaConnReq.create(peers.one(c), address(c), port(c), cfg(c))),
                FAILS);
        calls.add(
                1,
                "RpmaEventLoop.onRequest",
                c -> objects.registrations.put(
                        c, objects.loops.one(c).onRequest(eps.one(c).ep, cfg(c), RpmaConnReq::close)),
                FAILS);
        calls.add(4, "RpmaConnReq.connect", c -> conns.put(c, reqs.one(c).connect()), FAILS);
        calls.add(
                2,
                "RpmaConnReq.connect with data",
                c -> conns.put(c, reqs.one(c).connect(c.maybeNull(c.bytes(c.oneIn(2) ? 56 : 300)))),
                FAILS);
        calls.add(2, "RpmaConnReq.getPrivateData", c -> reqs.one(c).getPrivateData());
        calls.add(
                4,
                "RpmaConnReq.recv",
                c -> reqs.one(c).recv(locals.any(c), c.number(), c.number(), c.context()),
                FAILS);
        calls.add(1, "RpmaConnReq.close", c -> reqs.one(c).close(), FAILS);
        calls.add(6, "handshake", this::handshake, FAILS, INTERRUPTED);
        calls.add(2, "RpmaConn.close", c -> conns.one(c).close(), FAILS);
    }

    /** An endpoint that knows its port. */
    private static final class Listening implements AutoCloseable {
        private final RpmaEp ep;
        private final int port;

        Listening(RpmaPeer peer, String address, int port) {
            ep = RpmaEp.listen(peer, address, port);
            this.port = port;
        }

        @Override
        public void close() {
            ep.close();
        }

        @Override
        public String toString() {
            return ep.toString();
        }
    }

    private RpmaConnCfg cfg(Choice c) throws RandomCalls.Nothing {
        return c.oneIn(2) ? null : objects.connCfgs.one(c);
    }

    /** Makes both sides of a connection, which get established if no other thread interferes. */
    private void handshake(Choice c) throws Exception {
        RpmaConnCfg cfg = cfg(c);
        RpmaPeer peer = peers.one(c);
        Listening listening = eps.one(c);
        RpmaConnReq outgoing = RpmaConnReq.create(peer, address, listening.port, cfg);
        reqs.put(c, outgoing);
        RpmaConn client = outgoing.connect();
        conns.put(c, client);
        RpmaConnReq incoming = listening
                .ep
                .nextConnReq(cfg, HANDSHAKE_MS, TimeUnit.MILLISECONDS)
                .orElse(null);
        if (incoming == null) {
            return;
        }
        reqs.put(c, incoming);
        RpmaConn server = incoming.connect();
        conns.put(c, server);
        client.nextEvent(HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        server.nextEvent(HANDSHAKE_MS, TimeUnit.MILLISECONDS);
    }

    private void addPosts() {
        calls.add(
                24,
                "RpmaConn.read",
                c -> conns.one(c)
                        .read(
                                locals.any(c),
                                c.number(),
                                remotes.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.context()),
                FAILS);
        calls.add(
                32,
                "RpmaConn.write",
                c -> conns.one(c)
                        .write(
                                remotes.any(c),
                                c.number(),
                                locals.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.context()),
                FAILS);
        calls.add(
                12,
                "RpmaConn.writeWithImm",
                c -> conns.one(c)
                        .writeWithImm(
                                remotes.any(c),
                                c.number(),
                                locals.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.random.nextInt(),
                                c.context()),
                FAILS);
        calls.add(
                12,
                "RpmaConn.writeAtomic",
                c -> conns.one(c)
                        .writeAtomic(remotes.any(c), c.number(), locals.any(c), c.number(), c.flags(), c.context()),
                FAILS);
        calls.add(
                16,
                "RpmaConn.send",
                c -> conns.one(c).send(locals.any(c), c.number(), c.number(), c.flags(), c.context()),
                FAILS);
        calls.add(
                8,
                "RpmaConn.sendWithImm",
                c -> conns.one(c)
                        .sendWithImm(locals.any(c), c.number(), c.number(), c.flags(), c.random.nextInt(), c.context()),
                FAILS);
        calls.add(
                16, "RpmaConn.recv", c -> conns.one(c).recv(locals.any(c), c.number(), c.number(), c.context()), FAILS);
    }

    private void addBatches() {
        Slots<RpmaBatch> batches = objects.batches;
        calls.add(
                12,
                "RpmaBatch.read",
                c -> batches.one(c)
                        .read(
                                conns.any(c),
                                locals.any(c),
                                c.number(),
                                remotes.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.context()));
        calls.add(
                16,
                "RpmaBatch.write",
                c -> batches.one(c)
                        .write(
                                conns.any(c),
                                remotes.any(c),
                                c.number(),
                                locals.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.context()));
        calls.add(
                6,
                "RpmaBatch.writeWithImm",
                c -> batches.one(c)
                        .writeWithImm(
                                conns.any(c),
                                remotes.any(c),
                                c.number(),
                                locals.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.random.nextInt(),
                                c.context()));
        calls.add(
                6,
                "RpmaBatch.writeAtomic",
                c -> batches.one(c)
                        .writeAtomic(
                                conns.any(c),
                                remotes.any(c),
                                c.number(),
                                locals.any(c),
                                c.number(),
                                c.flags(),
                                c.context()));
        calls.add(
                8,
                "RpmaBatch.send",
                c -> batches.one(c).send(conns.any(c), locals.any(c), c.number(), c.number(), c.flags(), c.context()));
        calls.add(
                4,
                "RpmaBatch.sendWithImm",
                c -> batches.one(c)
                        .sendWithImm(
                                conns.any(c),
                                locals.any(c),
                                c.number(),
                                c.number(),
                                c.flags(),
                                c.random.nextInt(),
                                c.context()));
        calls.add(
                8,
                "RpmaBatch.recv",
                c -> batches.one(c).recv(conns.any(c), locals.any(c), c.number(), c.number(), c.context()));
        calls.add(
                4,
                "RpmaBatch.recv shared",
                c -> batches.one(c).recv(srqs.any(c), locals.any(c), c.number(), c.number(), c.context()));
        calls.add(2, "RpmaBatch.recv shared nothing", c -> batches.one(c).recv(srqs.any(c), c.context()));
    }
}
