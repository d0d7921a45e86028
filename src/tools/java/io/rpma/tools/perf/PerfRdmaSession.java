// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.tools.common.Listener;
import java.util.Optional;

/** The server's side of one measurement of librdmacm. */
final class PerfRdmaSession implements Listener.Session {
    private static final int BATCH = 64;
    private static final int WAIT_MS = 100;

    /** The time without a message or an answer after which a client counts as gone. */
    private static final int SILENCE_S = 30;

    private final int number;
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RdmaId id;
    private final RdmaMr region;
    private final RdmaQp qp;
    private final Runnable end;
    private final RpmaCompletions completions = RpmaCompletions.create(BATCH);

    /** The answers that wait for room in the send queue. */
    private int owed;

    private PerfRdmaSession(
            int number, PerfRequest request, RpmaMemory memory, RdmaId id, RdmaMr region, Runnable end) {
        this.number = number;
        this.request = request;
        this.memory = memory;
        this.id = id;
        this.region = region;
        this.end = end;
        qp = id.qp();
    }

    /**
     * Accepts a client. The caller closes the id if this fails.
     *
     * @param end is called after the close of the session
     */
    static PerfRdmaSession accept(int number, PerfRequest request, RdmaId id, Runnable end) {
        RpmaMemory memory = RpmaMemory.allocate(request.memory());
        RdmaMr region = null;
        boolean accepted = false;
        try {
            region = RdmaMr.reg(id, memory, access(request.operation()));
            PerfRdmaSession session = new PerfRdmaSession(number, request, memory, id, region, end);
            for (int i = 0; request.operation().isAnswered() && i < request.depth(); i++) {
                session.receive();
            }
            id.accept(new RdmaConnParam()
                    .privateData(new PerfRdmaOffer(region.address(), region.rkey()).toPrivateData()));
            accepted = true;
            return session;
        } finally {
            if (!accepted) {
                if (region != null) {
                    region.close();
                }
                memory.close();
            }
        }
    }

    private static RdmaAccess[] access(PerfOperation operation) {
        return switch (operation) {
            case RDMA_READ -> new RdmaAccess[] {RdmaAccess.REMOTE_READ};
            case RDMA_FETCH_AND_ADD -> new RdmaAccess[] {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_ATOMIC};
            case RDMA_SEND -> new RdmaAccess[] {RdmaAccess.LOCAL_WRITE};
            default -> new RdmaAccess[] {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_WRITE};
        };
    }

    private void receive() {
        qp.postRecv(region, 0, request.operation() == PerfOperation.RDMA_SEND ? request.size() : 0, 0);
    }

    @Override
    public void serve() throws InterruptedException {
        Optional<RdmaEvent> event = id.nextEvent(SILENCE_S, SECONDS);
        if (event.filter(established -> established.type() == RdmaEventType.ESTABLISHED)
                .isEmpty()) {
            Listener.say("%d: not established", number);
        } else if (request.operation().isAnswered()) {
            answer();
        } else {
            await();
        }
    }

    /** Waits until the client has ended, or its host does not answer. */
    private void await() throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onFailure((source, failure) -> loop.stop());
            id.onEvent(loop, event -> loop.stop());
            qp.onSendComp(loop, BATCH, taken -> loop.stop());
            qp.onPeerLost(loop, SILENCE_S, SILENCE_S, SECONDS, lost -> loop.stop());
            loop.run();
        }
    }

    private void answer() throws InterruptedException {
        long last = System.nanoTime();
        long checked = last;
        while (true) {
            int taken = request.events()
                    ? qp.getRecvComp(completions, WAIT_MS, MILLISECONDS)
                    : qp.pollRecvComp(completions);
            long now = System.nanoTime();
            if (taken > 0) {
                last = now;
                for (int i = 0; i < taken; i++) {
                    if (!completions.isSuccess(i)) {
                        return;
                    }
                    receive();
                    owed++;
                }
            } else if (!request.events()) {
                Spin.pause();
            }
            send();
            if (now - checked > MILLISECONDS.toNanos(WAIT_MS)) {
                checked = now;
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (id.nextEvent(0, NANOSECONDS).isPresent() || now - last > SECONDS.toNanos(SILENCE_S)) {
                    return;
                }
            }
        }
    }

    private void send() {
        qp.pollSendComp(completions);
        boolean message = request.operation() == PerfOperation.RDMA_SEND;
        while (owed > 0
                && qp.postSend(
                        region, message ? request.size() : 0, message ? request.size() : 0, RdmaQp.F_SIGNALED, 0)) {
            owed--;
        }
    }

    @Override
    public void close() {
        try (memory) {
            closeConnection();
        } finally {
            end.run();
        }
    }

    private void closeConnection() {
        try (id) {
            region.close();
        } catch (RpmaException e) {
            // The connection is closed nevertheless.
        }
    }
}
