// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaWcOpcode;
import io.rpma.tools.common.Connector;
import io.rpma.tools.common.Listener;
import java.util.Optional;

/** The server's side of one measurement. */
final class PerfSession implements Listener.Session {
    private static final int BATCH = 64;

    /** The time without a message or an answer after which a client counts as gone. */
    private static final int SILENCE_S = 30;

    private static final long CHECK = MILLISECONDS.toNanos(100);

    private final int number;
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final Runnable end;
    private final RpmaCompletions completions = RpmaCompletions.create(BATCH);

    /** The answers that wait for room in the send queue. */
    private int owed;

    /**
     * Takes over an accepted connection.
     *
     * @param end is called after the close
     */
    PerfSession(int number, PerfRequest request, RpmaMemory memory, RpmaMrLocal region, RpmaConn conn, Runnable end) {
        this.number = number;
        this.request = request;
        this.memory = memory;
        this.region = region;
        this.conn = conn;
        this.end = end;
    }

    /** Posts the receive of a message before the connection is made. */
    static void receive(RpmaConnReq connReq, RpmaMrLocal region, PerfRequest request) {
        connReq.recv(region, 0, received(request), 0);
    }

    @Override
    public void serve() throws InterruptedException {
        Optional<RpmaConnEvent> event = conn.nextEvent(SILENCE_S, SECONDS);
        if (event.filter(RpmaConnEvent.ESTABLISHED::equals).isEmpty()) {
            Listener.say(
                    "%d: not established: %s",
                    number, event.map(RpmaConnEvent::description).orElse("no answer"));
        } else if (request.operation().isAnswered() && !request.events()) {
            poll();
        } else {
            await();
        }
    }

    private void await() throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onFailure((source, failure) -> {
                Listener.say("%d: %s", number, failure);
                loop.stop();
            });
            loop.onEvent(conn, event -> loop.stop());
            loop.onCompletion(conn.getCq(), BATCH, (cq, taken) -> {
                if (!answer(taken)) {
                    loop.stop();
                }
            });
            loop.onPeerLost(conn, SILENCE_S, SILENCE_S, SECONDS, lost -> {
                Listener.say("%d: the client's host does not answer", number);
                loop.stop();
            });
            loop.run();
        }
    }

    private void poll() throws InterruptedException {
        long last = System.nanoTime();
        long checked = last;
        while (true) {
            int taken = conn.getCq().poll(completions);
            long now = System.nanoTime();
            if (taken > 0) {
                last = now;
                if (!answer(completions)) {
                    return;
                }
            } else {
                Spin.pause();
            }
            if (now - checked > CHECK) {
                checked = now;
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (conn.nextEvent(0, NANOSECONDS).isPresent() || now - last > SECONDS.toNanos(SILENCE_S)) {
                    return;
                }
            }
        }
    }

    /** Answers the received messages. Returns whether the connection can still be used. */
    private boolean answer(RpmaCompletions taken) {
        int count = taken.count();
        for (int i = 0; i < count; i++) {
            if (!taken.isSuccess(i)) {
                // also the usual end: the client closes its connection
                return false;
            }
            if (taken.opcode(i) == RpmaWcOpcode.RECV || taken.opcode(i) == RpmaWcOpcode.RECV_RDMA_WITH_IMM) {
                if (!request.operation().isAnswered()) {
                    return false;
                }
                conn.recv(region, 0, received(request), 0);
                owed++;
            }
        }
        while (owed > 0 && send()) {
            owed--;
        }
        return true;
    }

    /** A write with immediate data takes a receive, but none of its bytes. */
    private static int received(PerfRequest request) {
        return request.operation() == PerfOperation.SEND ? request.size() : 0;
    }

    private boolean send() {
        return request.operation() == PerfOperation.SEND
                ? conn.send(region, request.size(), request.size(), RpmaConn.F_COMPLETION_ALWAYS, 0)
                : conn.send(RpmaConn.F_COMPLETION_ALWAYS, 0);
    }

    @Override
    public void close() {
        try (memory;
                region) {
            Connector.close(conn);
        } finally {
            end.run();
        }
    }
}
