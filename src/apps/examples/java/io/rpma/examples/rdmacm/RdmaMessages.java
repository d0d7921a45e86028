// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.nio.ByteBuffer;

/** The exchange of {@code rdma_client} and {@code rdma_server}: each side sends a message of 16 bytes. */
final class RdmaMessages implements AutoCloseable {
    private static final int SIZE = 16;

    private final RdmaId id;
    private final RdmaQp qp;
    private final RdmaMr incoming;
    private final RdmaInlineData outgoing = RdmaInlineData.create(SIZE);
    private final RpmaCompletions completions = RpmaCompletions.create(1);

    /** Posts the receive, which must be posted before the connection is made. */
    RdmaMessages(RdmaId id) {
        this.id = id;
        qp = id.qp();
        incoming = RdmaMr.regMsgs(id, ByteBuffer.allocateDirect(SIZE));
        Side.posted(qp.postRecv(incoming, 0, SIZE, 1));
    }

    static RdmaQpInitAttr attr() {
        return new RdmaQpInitAttr().maxInlineData(SIZE).sigAll(true);
    }

    void send() throws InterruptedException {
        Side.posted(qp.postSendInline(outgoing, SIZE, RdmaQp.F_SIGNALED, 2));
        Side.awaitDone(qp, completions);
    }

    void receive() throws InterruptedException {
        if (!Side.awaitMessage(id, completions)) {
            throw new IllegalStateException("disconnected before the message");
        }
    }

    @Override
    public void close() {
        incoming.close();
    }
}
