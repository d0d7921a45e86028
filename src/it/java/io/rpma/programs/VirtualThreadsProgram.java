// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.VirtualThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The process of {@code VirtualThreadsIT}: many virtual threads, each of which waits for its own connection. */
public final class VirtualThreadsProgram {
    public static final String COMPLETIONS = "completions: ";
    public static final String EVENTS = "events: ";
    public static final String CLOSED = "closed: ";

    private final List<RpmaConn> conns = new ArrayList<>();
    private final BlockingQueue<RpmaConn> servers = new LinkedBlockingQueue<>();

    /**
     * @param arguments the address, the port and the number of connections
     */
    public static void main(String[] arguments) throws Exception {
        new VirtualThreadsProgram().run(arguments[0], Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    }

    /** A wait for an object, with a number as its result. */
    interface Wait<T> {
        int await(T object) throws InterruptedException;
    }

    private void run(String address, int port, int count) throws Exception {
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaEp ep = RpmaEp.listen(peer, address, port);
                RunningLoop running = new RunningLoop()) {
            running.loop.onRequest(ep, null, request -> servers.add(request.connect()));
            for (int i = 0; i < count; i++) {
                RpmaConn conn = RpmaConnReq.create(peer, address, port, null).connect();
                conns.add(conn);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
            }
            report(
                    COMPLETIONS,
                    awaitAll(
                            conns,
                            conn -> conn.getCq().await(RpmaCompletions.create(1)),
                            conn -> Pair.assertPosted(conn.write(RpmaConn.F_COMPLETION_ALWAYS, 1))));
            report(
                    EVENTS,
                    awaitAll(conns, conn -> conn.nextEvent() == RpmaConnEvent.CLOSED ? 1 : 0, conn -> closeServer()));
            report(CLOSED, awaitAll(conns, VirtualThreadsProgram::awaitClose, RpmaConn::close));
        } finally {
            servers.forEach(RpmaConn::close);
        }
    }

    private void closeServer() {
        servers.remove().close();
    }

    static void report(String what, int count) {
        System.out.println(what + count);
    }

    private static int awaitClose(RpmaConn conn) throws InterruptedException {
        try {
            conn.getCq().await(RpmaCompletions.create(1));
            return 0;
        } catch (IllegalStateException e) {
            return 1;
        }
    }

    /** Starts all waits before it wakes the first, and returns the sum of their results. */
    static <T> int awaitAll(List<T> objects, Wait<T> wait, Consumer<T> wake) throws Exception {
        CountDownLatch begun = new CountDownLatch(objects.size());
        List<FutureTask<Integer>> waits = new ArrayList<>();
        for (T object : objects) {
            FutureTask<Integer> one = new FutureTask<>(() -> {
                begun.countDown();
                return wait.await(object);
            });
            waits.add(one);
            VirtualThreads.start(one);
        }
        if (!begun.await(Limit.WAIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError(begun.getCount() + " virtual threads have no carrier");
        }
        objects.forEach(wake);
        int sum = 0;
        for (FutureTask<Integer> one : waits) {
            sum += one.get(Limit.WAIT_S, TimeUnit.SECONDS);
        }
        return sum;
    }
}
