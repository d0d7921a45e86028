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
import io.rpma.support.Connector;
import java.util.Optional;

/** The server's side of one measurement of librpma. */
final class PerfSession extends PerfServerEnd {
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final Runnable end;
    private final RpmaCompletions completions = RpmaCompletions.create(BATCH);

    /**
     * Takes over an accepted connection.
     *
     * @param end is called after the close
     */
    PerfSession(int number, PerfRequest request, RpmaMemory memory, RpmaMrLocal region, RpmaConn conn, Runnable end) {
        super(number, request);
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
    Optional<String> awaitEstablished() throws InterruptedException {
        Optional<RpmaConnEvent> event = conn.nextEvent(SILENCE_S, SECONDS);
        return event.filter(RpmaConnEvent.ESTABLISHED::equals).isPresent()
                ? Optional.empty()
                : Optional.of(event.map(RpmaConnEvent::description).orElse("no answer"));
    }

    @Override
    void watch(RpmaEventLoop loop, Runnable lost) {
        loop.onEvent(conn, event -> loop.stop());
        loop.onCompletion(conn.getCq(), BATCH, (cq, taken) -> loop.stop());
        loop.onPeerLost(conn, SILENCE_S, SILENCE_S, SECONDS, gone -> lost.run());
    }

    @Override
    int take() throws InterruptedException {
        int taken = request.events()
                ? conn.getCq().await(completions, WAIT_MS, MILLISECONDS)
                : conn.getCq().poll(completions);
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                return -1;
            }
            if (completions.opcode(i) != RpmaWcOpcode.SEND) {
                conn.recv(region, 0, received(request), 0);
                received();
            }
        }
        return taken;
    }

    /** A write with immediate data takes a receive, but none of its bytes. */
    private static int received(PerfRequest request) {
        return request.operation() == PerfOperation.SEND ? request.size() : 0;
    }

    @Override
    boolean send() {
        return request.operation() == PerfOperation.SEND
                ? conn.send(region, request.size(), request.size(), RpmaConn.F_COMPLETION_ALWAYS, 0)
                : conn.send(RpmaConn.F_COMPLETION_ALWAYS, 0);
    }

    @Override
    boolean isEnded() throws InterruptedException {
        return conn.nextEvent(0, NANOSECONDS).isPresent();
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
