// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Race;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closes connections and regions that other threads use. */
@Tag("soak")
@Tag("stand-in")
class CloseRaceIT extends CloseRace {
    /** The posts have one test, the waits two with {@link Race#CONNECTIONS} each: the sums are equal. */
    private static final int CONNECTIONS_OF_POSTS = 2 * Race.CONNECTIONS;

    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    /** The objects of a round: two connections, and a region of each side. */
    private final class Ends implements AutoCloseable {
        final RpmaConn client;
        final RpmaConn server;
        volatile RpmaMrLocal local = peer.register(memory, Regions.ALL);
        volatile RpmaMrRemote remote = Pair.remote(target);

        Ends(RpmaConnCfg cfg) throws InterruptedException {
            client = RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect();
            server = ep.nextConnReq(cfg, Limit.WAIT_S, TimeUnit.SECONDS)
                    .orElseThrow()
                    .connect();
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
        }

        @Override
        public void close() {
            client.close();
            server.close();
            remote.close();
            local.close();
        }
    }

    private interface Post {
        void post(Ends ends);
    }

    /** The calls that do not block. */
    private enum Hot {
        READ(ends -> ends.client.read(ends.local, 0, ends.remote, 0, SIZE, ALWAYS, 1)),
        READ_NOTHING(ends -> ends.client.read(ALWAYS, 1)),
        WRITE(ends -> ends.client.write(ends.remote, 0, ends.local, 0, SIZE, ALWAYS, 1)),
        WRITE_NOTHING(ends -> ends.client.write(ALWAYS, 1)),
        WRITE_WITH_IMM(ends -> ends.client.writeWithImm(ends.remote, 0, ends.local, 0, SIZE, ALWAYS, 2, 1)),
        WRITE_WITH_IMM_NOTHING(ends -> ends.client.writeWithImm(ALWAYS, 2, 1)),
        ATOMIC_WRITE(ends -> ends.client.atomicWrite(ends.remote, 0, 2, ALWAYS, 1)),
        WRITE_ATOMIC(ends -> ends.client.writeAtomic(ends.remote, 0, ends.local, 0, ALWAYS, 1)),
        FLUSH(ends -> ends.client.flush(ends.remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 1)),
        SEND(ends -> ends.client.send(ends.local, 0, SIZE, ALWAYS, 1)),
        SEND_NOTHING(ends -> ends.client.send(ALWAYS, 1)),
        SEND_WITH_IMM(ends -> ends.client.sendWithImm(ends.local, 0, SIZE, ALWAYS, 2, 1)),
        SEND_WITH_IMM_NOTHING(ends -> ends.client.sendWithImm(ALWAYS, 2, 1)),
        RECV(ends -> ends.client.recv(ends.local, 0, SIZE, 1)),
        RECV_NOTHING(ends -> ends.client.recv(1)),
        BATCH(CloseRaceIT::postBatch),
        BATCH_OF_MESSAGES(CloseRaceIT::postBatchOfMessages),
        POLL(ends -> {});

        private final Post post;

        Hot(Post post) {
            this.post = post;
        }

        /** Makes the call, and polls to make room for the next call. */
        boolean use(Ends ends) {
            post.post(ends);
            ends.client.getCq().poll(COMPLETIONS.get());
            return true;
        }
    }

    private static void postBatch(Ends ends) {
        record(ends).post();
    }

    private static RpmaBatch record(Ends ends) {
        RpmaBatch batch = BATCHES.get();
        batch.clear();
        batch.read(ends.client, ends.local, 0, ends.remote, 0, SIZE, ALWAYS, 1);
        batch.write(ends.client, ends.remote, 0, ends.local, 0, SIZE, ALWAYS, 1);
        batch.flush(ends.client, ends.remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 1);
        batch.atomicWrite(ends.client, ends.remote, 0, 2, ALWAYS, 1);
        batch.writeAtomic(ends.client, ends.remote, 0, ends.local, 0, ALWAYS, 1);
        batch.read(ends.client, ALWAYS, 1);
        batch.write(ends.client, ALWAYS, 1);
        return batch;
    }

    private static void postBatchOfMessages(Ends ends) {
        RpmaBatch batch = BATCHES.get();
        batch.clear();
        // a full queue ends the batch, so the posts that can report a closed region come first
        batch.writeWithImm(ends.client, ends.remote, 0, ends.local, 0, SIZE, ALWAYS, 2, 1);
        batch.send(ends.client, ends.local, 0, SIZE, ALWAYS, 1);
        batch.sendWithImm(ends.client, ALWAYS, 2, 1);
        batch.recv(ends.server, ends.local, 0, SIZE, 1);
        batch.recv(ends.server, 1);
        batch.post();
        ends.server.getCq().poll(COMPLETIONS.get());
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionIsClosed(Hot hot) throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < CONNECTIONS_OF_POSTS; round++) {
                try (Ends ends = new Ends(null)) {
                    race.run(() -> hot.use(ends), ends.client::close);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.MATCH_NONE,
            names = {".*_NOTHING", "ATOMIC_WRITE", "FLUSH", "POLL"})
    void theLocalRegionIsClosed(Hot hot) throws Exception {
        regions(hot, ends -> ends.local.close(), ends -> ends.local = peer.register(memory, Regions.ALL));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.MATCH_NONE,
            names = {".*_NOTHING", "SEND", "SEND_WITH_IMM", "RECV", "POLL"})
    void theRemoteRegionIsClosed(Hot hot) throws Exception {
        regions(hot, ends -> ends.remote.close(), ends -> ends.remote = Pair.remote(target));
    }

    private void regions(Hot hot, Post close, Post renew) throws Exception {
        try (Race race = new Race(2)) {
            for (int done = 0; done < Race.ROUNDS; done += Race.ROUNDS_OF_CONNECTION) {
                try (Ends ends = new Ends(null)) {
                    for (int round = 0; round < Race.ROUNDS_OF_CONNECTION; round++) {
                        race.run(() -> hot.use(ends), () -> close.post(ends));
                        renew.post(ends);
                    }
                }
            }
        }
    }

    @Test
    void theOtherSideAndThenThisOneIsClosedWhileWriting() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Ends ends = new Ends(null)) {
                    race.run(() -> Hot.WRITE.use(ends), () -> {
                        ends.server.close();
                        ends.client.close();
                    });
                }
            }
        }
    }

    private interface Wait {
        void await(Ends ends) throws InterruptedException;
    }

    /** The waits with a connection, and the configuration that each needs. */
    private enum Waiting {
        NEXT_EVENT(cfg -> {}, ends -> ends.client.nextEvent()),
        NEXT_EVENT_FOR_SOME_TIME(cfg -> {}, ends -> ends.client.nextEvent(10, TimeUnit.MICROSECONDS)),
        CQ(cfg -> {}, ends -> ends.client.getCq().await(COMPLETIONS.get())),
        CQ_FOR_SOME_TIME(cfg -> {}, ends -> ends.client.getCq().await(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        RCQ(
                cfg -> cfg.setRcqSize(10),
                ends -> ends.client.getRcq().orElseThrow().await(COMPLETIONS.get())),
        RCQ_FOR_SOME_TIME(
                cfg -> cfg.setRcqSize(10),
                ends -> ends.client.getRcq().orElseThrow().await(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        RCQ_POLL(
                cfg -> cfg.setRcqSize(10),
                ends -> ends.client.getRcq().orElseThrow().poll(COMPLETIONS.get())),
        AWAIT(cfg -> cfg.setRcqSize(10).setComplChannel(true), ends -> ends.client.await(COMPLETIONS.get())),
        AWAIT_FOR_SOME_TIME(
                cfg -> cfg.setRcqSize(10).setComplChannel(true),
                ends -> ends.client.await(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        CQ_WHILE_CONNECTED(
                cfg -> {},
                ends -> untilEnd(() -> ends.client.getCq().awaitWhileConnected(COMPLETIONS.get(), 1, TimeUnit.HOURS))),
        AWAIT_WHILE_CONNECTED(
                cfg -> cfg.setRcqSize(10).setComplChannel(true),
                ends -> untilEnd(() -> ends.client.awaitWhileConnected(COMPLETIONS.get(), 1, TimeUnit.HOURS)));

        private final Consumer<RpmaConnCfg> configure;
        private final Wait wait;

        Waiting(Consumer<RpmaConnCfg> configure, Wait wait) {
            this.configure = configure;
            this.wait = wait;
        }

        private interface Call {
            Object run() throws InterruptedException;
        }

        /** The end of the connection can come before the close. */
        private static void untilEnd(Call call) throws InterruptedException {
            try {
                call.run();
            } catch (RpmaException e) {
                assertEquals("ENOTCONN", e.errnoName(), e.getMessage());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionIsClosedWhileWaiting(Waiting waiting) throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create();
                Race race = new Race(2)) {
            waiting.configure.accept(cfg);
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Ends ends = new Ends(cfg)) {
                    race.run(
                            () -> {
                                waiting.wait.await(ends);
                                return true;
                            },
                            ends.client::close);
                }
            }
        }
    }

    /** The events and completions that the threads wait for arrive while the connection is closed. */
    @ParameterizedTest
    @EnumSource
    void theConnectionIsClosedWhileSomethingHappens(Waiting waiting) throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create();
                Race race = new Race(2)) {
            waiting.configure.accept(cfg);
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Ends ends = new Ends(cfg)) {
                    ends.client.recv(ends.local, 0, SIZE, 1);
                    race.run(
                            () -> {
                                waiting.wait.await(ends);
                                return true;
                            },
                            () -> {
                                ends.client.write(ends.remote, 0, ends.local, 0, SIZE, ALWAYS, 1);
                                ends.server.send(ends.local, 0, SIZE, ALWAYS, 1);
                                ends.server.disconnect();
                                ends.client.close();
                            });
                }
            }
        }
    }

    /** The calls of a connection that neither post nor wait. */
    private enum Cold {
        DISCONNECT(ends -> ends.client.disconnect()),
        GET_QP_NUM(ends -> ends.client.getQpNum()),
        GET_PRIVATE_DATA(ends -> ends.client.getPrivateData()),
        GET_EVENT_FD(ends -> ends.client.getEventFd()),
        GET_COMPL_FD(ends -> ends.client.getComplFd()),
        GET_CQ_FD(ends -> ends.client.getCq().getFd()),
        APPLY_REMOTE_PEER_CFG(ends -> {
            try (RpmaPeerCfg peerCfg = RpmaPeerCfg.create()) {
                ends.client.applyRemotePeerCfg(peerCfg);
            }
        });

        private final Post call;

        Cold(Post call) {
            this.call = call;
        }
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionIsClosedWhileAsked(Cold cold) throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(10).setComplChannel(true);
                Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Ends ends = new Ends(cfg)) {
                    race.run(
                            () -> {
                                cold.call.post(ends);
                                return true;
                            },
                            ends.client::close);
                }
            }
        }
    }

    @Test
    void everyCallOfAConnectionRaces() {
        List<String> calls = Arrays.stream(RpmaConn.class.getMethods())
                .filter(method -> method.getDeclaringClass() == RpmaConn.class)
                .map(Method::getName)
                .collect(Collectors.toCollection(ArrayList::new));
        // each constant removes one overload
        Stream.of(Hot.values(), Waiting.values(), Cold.values())
                .flatMap(Arrays::stream)
                .map(call -> camelCase(call.name().replaceAll("_NOTHING|_FOR_SOME_TIME", "")))
                .forEach(calls::remove);
        Collections.sort(calls);
        // close races with all other calls; the rest make no native call
        assertEquals(List.of("close", "getCq", "getRcq", "isAtomicWriteNative", "isFlushNative", "toString"), calls);
    }

    private static String camelCase(String name) {
        return Pattern.compile("_(.)")
                .matcher(name.toLowerCase(Locale.ROOT))
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }

    @Test
    void theRegionIsClosedWhileAsked() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaMrLocal region = peer.register(memory, Regions.ALL)) {
                    race.run(
                            () -> {
                                region.getDescriptor();
                                region.getDescriptorSize();
                                region.getPtr();
                                region.getSize();
                                return true;
                            },
                            region::close);
                }
            }
        }
    }

    @Test
    void theConfigurationOfTheAppliedPlatformIsClosed() throws Exception {
        try (Race race = new Race(2);
                Ends ends = new Ends(null)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                try (RpmaPeerCfg peerCfg = RpmaPeerCfg.create()) {
                    race.run(
                            () -> {
                                ends.client.applyRemotePeerCfg(peerCfg);
                                return true;
                            },
                            peerCfg::close);
                }
            }
        }
    }
}
