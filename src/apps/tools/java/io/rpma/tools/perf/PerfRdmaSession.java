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
import java.util.Optional;

/** The server's side of one measurement of librdmacm. */
final class PerfRdmaSession extends PerfServerEnd {
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RdmaId id;
    private final RdmaMr region;
    private final RdmaQp qp;
    private final Runnable end;
    private final RpmaCompletions completions = RpmaCompletions.create(BATCH);

    private PerfRdmaSession(
            int number, PerfRequest request, RpmaMemory memory, RdmaId id, RdmaMr region, Runnable end) {
        super(number, request);
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
            case RDMA_FETCH_AND_ADD, RDMA_COMPARE_AND_SWAP ->
                new RdmaAccess[] {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_ATOMIC};
            case RDMA_SEND -> new RdmaAccess[] {RdmaAccess.LOCAL_WRITE};
            default -> new RdmaAccess[] {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_WRITE};
        };
    }

    private void receive() {
        qp.postRecv(region, 0, request.operation() == PerfOperation.RDMA_SEND ? request.size() : 0, 0);
    }

    @Override
    Optional<String> awaitEstablished() throws InterruptedException {
        Optional<RdmaEvent> event = id.nextEvent(SILENCE_S, SECONDS);
        return event.filter(established -> established.type() == RdmaEventType.ESTABLISHED)
                        .isPresent()
                ? Optional.empty()
                : Optional.of(event.map(RdmaEvent::toString).orElse("no answer"));
    }

    @Override
    void watch(RpmaEventLoop loop, Runnable lost) {
        id.onEvent(loop, event -> loop.stop());
        qp.onSendComp(loop, BATCH, taken -> loop.stop());
        qp.onPeerLost(loop, SILENCE_S, SILENCE_S, SECONDS, gone -> lost.run());
    }

    @Override
    int take() throws InterruptedException {
        // makes room for the next answers
        qp.pollSendComp(completions);
        int taken =
                request.events() ? qp.getRecvComp(completions, WAIT_MS, MILLISECONDS) : qp.pollRecvComp(completions);
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                return -1;
            }
            receive();
            received();
        }
        return taken;
    }

    @Override
    boolean send() {
        int length = request.operation() == PerfOperation.RDMA_SEND ? request.size() : 0;
        return qp.postSend(region, length, length, RdmaQp.F_SIGNALED, 0);
    }

    @Override
    boolean isEnded() throws InterruptedException {
        return id.nextEvent(0, NANOSECONDS).isPresent();
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
