// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.RandomCalls;
import io.rpma.testing.RandomCalls.Choice;
import io.rpma.testing.RandomCalls.Nothing;
import io.rpma.testing.RandomCalls.Slots;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;

/** The objects of random calls, and the calls that need no device. */
final class RandomObjects {
    final RandomCalls calls;
    final Slots<RpmaPeerCfg> peerCfgs;
    final Slots<RpmaConnCfg> connCfgs;
    final Slots<RpmaSrqCfg> srqCfgs;
    final Slots<RpmaMrRemote> remotes;
    final Slots<RpmaMemory> memories;
    final Slots<RpmaMemoryPool> pools;
    final Slots<ByteBuffer> views;
    final Slots<RpmaConn> conns;
    final Slots<RpmaEventLoop> loops;
    final Slots<RpmaEventLoop.Registration> registrations;

    /** Several threads use a batch at the same time, although the contract forbids it. */
    final Slots<RpmaBatch> batches;

    RandomObjects(RandomCalls calls) {
        this.calls = calls;
        peerCfgs = calls.new Slots<>(3);
        connCfgs = calls.new Slots<>(4);
        srqCfgs = calls.new Slots<>(3);
        remotes = calls.new Slots<>(8);
        memories = calls.new Slots<>(6);
        pools = calls.new Slots<>(3);
        views = calls.new Slots<>(6);
        conns = calls.new Slots<>(8);
        batches = calls.new Slots<>(4);
        loops = calls.new Slots<>(2);
        registrations = calls.new Slots<>(8);
    }

    /** Adds the calls that need no device. These calls create files in the directory. */
    void add(Path directory) {
        addConfigurations();
        addRemotes();
        addMemory(directory);
        addPools();
        addConnections();
        addBatches();
        addEventLoops();
        addTheRest();
    }

    private void addConfigurations() {
        calls.add(4, "RpmaPeerCfg.create", c -> peerCfgs.put(c, RpmaPeerCfg.create()), RpmaException.class);
        calls.add(
                4,
                "RpmaPeerCfg.fromDescriptor",
                c -> peerCfgs.put(c, RpmaPeerCfg.fromDescriptor(c.maybeNull(c.bytes(2)))),
                RpmaException.class);
        calls.add(4, "RpmaPeerCfg.setDirectWriteToPmem", c -> peerCfgs.one(c).setDirectWriteToPmem(c.oneIn(2)));
        calls.add(4, "RpmaPeerCfg.getDirectWriteToPmem", c -> peerCfgs.one(c).getDirectWriteToPmem());
        calls.add(
                4, "RpmaPeerCfg.getDescriptor", c -> assertTrue(peerCfgs.one(c).getDescriptor()[0] <= 1));
        calls.add(2, "RpmaPeerCfg.close", c -> peerCfgs.one(c).close());

        calls.add(6, "RpmaConnCfg.create", c -> connCfgs.put(c, RpmaConnCfg.create()), RpmaException.class);
        calls.add(4, "RpmaConnCfg.setTimeout", c -> connCfgs.one(c).setTimeout(c.oneIn(4) ? c.size() : 200));
        calls.add(4, "RpmaConnCfg.setCqSize", c -> connCfgs.one(c).setCqSize(c.size()));
        calls.add(4, "RpmaConnCfg.setSqSize", c -> connCfgs.one(c).setSqSize(c.size()));
        calls.add(4, "RpmaConnCfg.setRqSize", c -> connCfgs.one(c).setRqSize(c.size()));
        calls.add(4, "RpmaConnCfg.setRcqSize", c -> connCfgs.one(c).setRcqSize(c.size()));
        calls.add(4, "RpmaConnCfg.setComplChannel", c -> connCfgs.one(c).setComplChannel(c.oneIn(2)));
        calls.add(4, "RpmaConnCfg.get", c -> {
            RpmaConnCfg cfg = connCfgs.one(c);
            assertTrue(cfg.getTimeout() >= 0);
            assertTrue(cfg.getCqSize() > 0);
            assertTrue(cfg.getSqSize() > 0);
            assertTrue(cfg.getRqSize() >= 0);
            assertTrue(cfg.getRcqSize() >= 0);
            cfg.getComplChannel();
            cfg.getSrq().ifPresent(RpmaSrq::toString);
        });
        calls.add(3, "RpmaConnCfg.close", c -> connCfgs.one(c).close());

        calls.add(4, "RpmaSrqCfg.create", c -> srqCfgs.put(c, RpmaSrqCfg.create()), RpmaException.class);
        calls.add(4, "RpmaSrqCfg.setRqSize", c -> srqCfgs.one(c).setRqSize(c.size()));
        calls.add(4, "RpmaSrqCfg.setRcqSize", c -> srqCfgs.one(c).setRcqSize(c.oneIn(2) ? 0 : c.size()));
        calls.add(4, "RpmaSrqCfg.get", c -> {
            RpmaSrqCfg cfg = srqCfgs.one(c);
            assertTrue(cfg.getRqSize() > 0);
            assertTrue(cfg.getRcqSize() >= 0);
        });
        calls.add(3, "RpmaSrqCfg.close", c -> srqCfgs.one(c).close());
    }

    private void addRemotes() {
        calls.add(
                2,
                "RpmaMrRemote.fromDescriptor",
                c -> remotes.put(c, RpmaMrRemote.fromDescriptor(c.maybeNull(descriptor(c)))),
                RpmaException.class);
        calls.add(8, "RpmaMrRemote.get", c -> {
            RpmaMrRemote remote = remotes.one(c);
            assertTrue(remote.getSize() > 0);
            remote.getFlushType();
            remote.usages();
        });
        calls.add(2, "RpmaMrRemote.close", c -> remotes.one(c).close());
    }

    /** Returns a descriptor of a region that does not exist, or random bytes. */
    private static byte[] descriptor(Choice c) {
        if (c.oneIn(4)) {
            return c.bytes(40);
        }
        return ByteBuffer.allocate(RpmaMrLocal.DESCRIPTOR_SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(8 * c.number())
                .putLong(8 * c.number())
                .putInt(c.random.nextInt())
                .put((byte) (c.oneIn(2) ? 0xff : c.random.nextInt()))
                .array();
    }

    private void addMemory(Path directory) {
        calls.add(
                8,
                "RpmaMemory.allocate",
                c -> memories.put(c, RpmaMemory.allocate(c.oneIn(8) ? c.number() : 1 + c.random.nextInt(16384))),
                OutOfMemoryError.class);
        calls.add(
                1,
                "RpmaMemory.allocateHuge",
                c -> memories.put(c, RpmaMemory.allocateHuge(c.number(), c.oneIn(2) ? 1 << 21 : c.number())),
                OutOfMemoryError.class);
        calls.add(
                2,
                "RpmaMemory.map",
                c -> memories.put(
                        c,
                        RpmaMemory.map(
                                c.maybeNull(directory.resolve("file" + c.random.nextInt(3))),
                                c.oneIn(8) ? -c.random.nextInt(2) : 1 + c.random.nextInt(8192))),
                IOException.class);
        calls.add(
                1,
                "RpmaMemory.mapReadOnly",
                c -> memories.put(c, RpmaMemory.mapReadOnly(directory.resolve("file" + c.random.nextInt(4)))),
                IOException.class);
        calls.add(8, "RpmaMemory.buffer", c -> views.put(c, memories.one(c).buffer(c.number(), (int) c.number())));
        calls.add(4, "RpmaMemory.get", c -> {
            RpmaMemory memory = memories.one(c);
            assertTrue(memory.address() > 0 && memory.size() > 0);
            memory.isPersistent();
            memory.isReadOnly();
            memory.kind();
        });
        calls.add(
                8,
                "RpmaMemory.persist",
                c -> memories.one(c).persist(c.number(), c.number()),
                UncheckedIOException.class);
        calls.add(3, "RpmaMemory.close", c -> memories.one(c).close());
        calls.add(16, "ByteBuffer.get", c -> {
            ByteBuffer view = views.one(c).duplicate();
            while (view.hasRemaining()) {
                view.get();
            }
        });
        calls.add(
                16,
                "ByteBuffer.put",
                c -> views.one(c).duplicate().put(c.bytes(64)),
                BufferOverflowException.class,
                ReadOnlyBufferException.class);
    }

    private void addPools() {
        calls.add(
                8,
                "RpmaMemoryPool.create",
                c -> pools.put(
                        c,
                        RpmaMemoryPool.create(
                                memories.any(c),
                                c.maybeNull(new RpmaMemoryPool.SizeClass(c.size(), c.size())),
                                new RpmaMemoryPool.SizeClass(64, 2))));
        calls.add(32, "RpmaMemoryPool.take", c -> {
            RpmaMemoryPool pool = pools.one(c);
            long ticket = pool.take(c.number());
            if (ticket != RpmaMemoryPool.EMPTY) {
                assertTrue(pool.offset(ticket) + pool.length(ticket)
                        <= pool.memory().size());
                pool.buffer(ticket).get(0);
                pool.giveBack(ticket);
            }
        });
        calls.add(4, "RpmaMemoryPool.giveBack", c -> pools.one(c).giveBack(c.context()));
        calls.add(1, "RpmaMemoryPool.available", c -> assertTrue(pools.one(c).available() >= 0));
        calls.add(2, "RpmaMemoryPool.close", c -> pools.one(c).close());
    }

    /**
     * Adds the calls of connections that need no local region. A connection that is not established refuses the posts.
     */
    private void addConnections() {
        Class<RpmaException> fails = RpmaException.class;
        calls.add(8, "RpmaConn.read nothing", c -> conns.one(c).read(c.flags(), c.context()), fails);
        calls.add(8, "RpmaConn.write nothing", c -> conns.one(c).write(c.flags(), c.context()), fails);
        calls.add(
                4,
                "RpmaConn.writeWithImm nothing",
                c -> conns.one(c).writeWithImm(c.flags(), c.random.nextInt(), c.context()),
                fails);
        calls.add(4, "RpmaConn.send nothing", c -> conns.one(c).send(c.flags(), c.context()), fails);
        calls.add(
                4,
                "RpmaConn.sendWithImm nothing",
                c -> conns.one(c).sendWithImm(c.flags(), c.random.nextInt(), c.context()),
                fails);
        calls.add(8, "RpmaConn.recv nothing", c -> conns.one(c).recv(c.context()), fails);
        calls.add(
                16,
                "RpmaConn.flush",
                c -> conns.one(c)
                        .flush(
                                remotes.any(c),
                                c.number(),
                                c.number(),
                                c.of(RpmaFlushType.values()),
                                c.flags(),
                                c.context()),
                fails);
        calls.add(
                16,
                "RpmaConn.atomicWrite",
                c -> conns.one(c).atomicWrite(remotes.any(c), c.number(), c.random.nextLong(), c.flags(), c.context()),
                fails);
        calls.add(4, "RpmaConn.applyRemotePeerCfg", c -> conns.one(c).applyRemotePeerCfg(peerCfgs.any(c)));
        calls.add(2, "RpmaConn.getPrivateData", c -> conns.one(c).getPrivateData());
        calls.add(2, "RpmaConn.getQpNum", c -> conns.one(c).getQpNum());
        calls.add(2, "RpmaConn.getEventFd", c -> assertTrue(conns.one(c).getEventFd() > 2));
        calls.add(2, "RpmaConn.getComplFd", c -> assertTrue(conns.one(c).getComplFd() > 2), fails);
        calls.add(2, "RpmaCq.getFd", c -> assertTrue(cq(c).getFd() > 2));
        calls.add(1, "RpmaConn.disconnect", c -> conns.one(c).disconnect(), fails);
        calls.add(
                8,
                "RpmaConn.nextEvent",
                c -> conns.one(c).nextEvent(c.timeout(), c.unit()),
                fails,
                InterruptedException.class);
        calls.add(
                1, "RpmaConn.nextEvent without end", c -> conns.one(c).nextEvent(), fails, InterruptedException.class);
        calls.add(
                8,
                "RpmaConn.await",
                c -> conns.one(c)
                        .await(c.maybeNull(c.completions), c.timeout(), c.unit())
                        .ifPresent(cq -> c.check(c.completions.count())),
                fails,
                InterruptedException.class);
        calls.add(
                1,
                "RpmaConn.await without end",
                c -> conns.one(c).await(c.completions),
                fails,
                InterruptedException.class);
        calls.add(32, "RpmaCq.poll", c -> c.check(cq(c).poll(c.maybeNull(c.completions))), fails);
        calls.add(
                16,
                "RpmaCq.await",
                c -> c.check(cq(c).await(c.maybeNull(c.completions), c.timeout(), c.unit())),
                fails,
                InterruptedException.class);
        calls.add(
                1,
                "RpmaCq.await without end",
                c -> c.check(cq(c).await(c.completions)),
                fails,
                InterruptedException.class);
    }

    private void addBatches() {
        calls.add(2, "RpmaBatch.create", c -> batches.put(c, RpmaBatch.create(c.size())));
        calls.add(
                24,
                "RpmaBatch.post",
                c -> {
                    RpmaBatch batch = batches.one(c);
                    int posted = batch.post();
                    assertTrue(posted >= 0 && posted <= batch.capacity());
                },
                RpmaException.class);
        calls.add(8, "RpmaBatch.removeFirst", c -> batches.one(c).removeFirst(), NoSuchElementException.class);
        calls.add(2, "RpmaBatch.clear", c -> batches.one(c).clear());
        calls.add(2, "RpmaBatch.get", c -> {
            RpmaBatch batch = batches.one(c);
            assertTrue(batch.count() >= 0 && batch.count() <= batch.capacity());
            assertTrue(batch.posted() >= 0 && batch.posted() <= batch.capacity());
        });
        calls.add(4, "RpmaBatch.read nothing", c -> batches.one(c).read(conns.any(c), c.flags(), c.context()));
        calls.add(4, "RpmaBatch.write nothing", c -> batches.one(c).write(conns.any(c), c.flags(), c.context()));
        calls.add(
                2,
                "RpmaBatch.writeWithImm nothing",
                c -> batches.one(c).writeWithImm(conns.any(c), c.flags(), c.random.nextInt(), c.context()));
        calls.add(2, "RpmaBatch.send nothing", c -> batches.one(c).send(conns.any(c), c.flags(), c.context()));
        calls.add(
                2,
                "RpmaBatch.sendWithImm nothing",
                c -> batches.one(c).sendWithImm(conns.any(c), c.flags(), c.random.nextInt(), c.context()));
        calls.add(4, "RpmaBatch.recv nothing", c -> batches.one(c).recv(conns.any(c), c.context()));
        calls.add(
                8,
                "RpmaBatch.flush",
                c -> batches.one(c)
                        .flush(
                                conns.any(c),
                                remotes.any(c),
                                c.number(),
                                c.number(),
                                c.of(RpmaFlushType.values()),
                                c.flags(),
                                c.context()));
        calls.add(
                8,
                "RpmaBatch.atomicWrite",
                c -> batches.one(c)
                        .atomicWrite(
                                conns.any(c), remotes.any(c), c.number(), c.random.nextLong(), c.flags(), c.context()));
    }

    /** Returns one of the completion queues of a connection. */
    private RpmaCq cq(Choice c) throws Nothing {
        RpmaConn conn = conns.one(c);
        return c.oneIn(2) ? conn.getCq() : conn.getRcq().orElse(conn.getCq());
    }

    private void addEventLoops() {
        Class<RpmaException> fails = RpmaException.class;
        calls.add(1, "RpmaEventLoop.create", c -> loops.put(c, RpmaEventLoop.create()), fails);
        calls.add(
                4,
                "RpmaEventLoop.run",
                c -> {
                    RpmaEventLoop loop = loops.one(c);
                    Runnable end = c.oneIn(2)
                            ? loop::stop
                            : () -> Thread.currentThread().interrupt();
                    loop.schedule(end, c.random.nextInt(2000), TimeUnit.MICROSECONDS);
                    try {
                        loop.run();
                    } finally {
                        Thread.interrupted();
                    }
                },
                InterruptedException.class);
        calls.add(1, "RpmaEventLoop.stop", c -> loops.one(c).stop());
        calls.add(
                2,
                "RpmaEventLoop.onEvent",
                c -> registrations.put(c, loops.one(c).onEvent(conns.one(c), c.maybeNull(event -> {}))),
                fails);
        calls.add(
                2,
                "RpmaEventLoop.onEvent by an executor",
                c -> registrations.put(
                        c, loops.one(c).on(c.maybeNull(Runnable::run)).onEvent(conns.one(c), event -> {})),
                fails);
        calls.add(
                2,
                "RpmaEventLoop.onCompletion of a queue",
                c -> registrations.put(c, loops.one(c).onCompletion(cq(c), c.size(), (cq, completions) -> {})),
                fails,
                OutOfMemoryError.class);
        calls.add(
                2,
                "RpmaEventLoop.onCompletion of a connection",
                c -> registrations.put(
                        c, loops.one(c).onCompletion(conns.one(c), 1 + c.random.nextInt(4), (cq, completions) -> {
                            if (completions.wrId(0) % 4 == 0) {
                                throw new IllegalStateException("test");
                            }
                        })),
                fails);
        calls.add(
                3,
                "RpmaEventLoop.onPeerLost",
                c -> {
                    RpmaConn conn = conns.one(c);
                    c.recognise(conn.probe());
                    registrations.put(
                            c,
                            loops.one(c)
                                    .on(c.maybeNull(Runnable::run))
                                    .onPeerLost(conn, c.timeout(), c.timeout(), c.unit(), RpmaConn::close));
                },
                fails);
        calls.add(
                4,
                "RpmaEventLoop.schedule",
                c -> registrations.put(c, loops.one(c).schedule(() -> {}, c.timeout(), c.unit())));
        calls.add(
                12,
                "RpmaEventLoop.Registration.cancel",
                c -> registrations.one(c).cancel());
        calls.add(1, "RpmaEventLoop.close", c -> loops.one(c).close());
    }

    private void addTheRest() {
        calls.add(2, "Thread.interrupt", calls::interruptOne);
        calls.add(8, "toString", calls::describeOne);
        calls.add(8, "close at last", c -> calls.retireLeftover());
        calls.add(
                1,
                "RpmaDevice.local",
                c -> RpmaDevice.local(c.of("", "192.0.2.1", "0.0.0.0", "1.2.3.4.5")),
                RpmaException.class);
        calls.add(1, "RpmaCompletions.create", c -> RpmaCompletions.create(c.size() / 2), OutOfMemoryError.class);
        calls.add(4, "RpmaCompletions.get", c -> {
            int index = c.size();
            c.completions.qpNum(index);
            c.completions.vendorErr(index);
            c.completions.immData(index);
        });
        calls.add(
                1,
                "RpmaLog.setThreshold",
                c -> RpmaLog.setThreshold(c.of(RpmaLogThreshold.values()), c.of(RpmaLogLevel.values())));
        calls.add(1, "RpmaLog.getThreshold", c -> RpmaLog.getThreshold(c.of(RpmaLogThreshold.values())));
        calls.add(
                1,
                "RpmaLog.setFunction",
                c -> RpmaLog.setFunction(
                        c.oneIn(2)
                                ? null
                                : (level, file, line, function, text) -> {
                                    if (text == null) {
                                        throw new AssertionError("no text");
                                    }
                                }));
        calls.add(1, "RpmaError.message", c -> c.of(RpmaError.values()).message());
    }
}
