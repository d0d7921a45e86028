// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaSrq;
import io.rpma.RpmaSrqCfg;
import io.rpma.support.Connector;
import io.rpma.support.Offer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.stream.Stream;

/** A connection of librpma. */
final class LibrpmaEnd extends End {
    static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    static final int ON_ERROR = RpmaConn.F_COMPLETION_ON_ERROR;

    final RpmaMrLocal region;

    /** Null before {@link #connect}. */
    RpmaConn conn;

    RpmaMrRemote remote;

    private final RpmaPeer peer;
    private RpmaSrq srq;

    /** Registers the memory. */
    LibrpmaEnd(RpmaPeer peer, RpmaMemory memory, long timeout) {
        super(memory, timeout);
        this.peer = peer;
        region = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
    }

    /** Connects with a receive queue of its own, or with a shared one. */
    void connect(Connector connector, long timeout, boolean shared) throws IOException, InterruptedException {
        try (RpmaConnCfg cfg =
                RpmaConnCfg.create().setSqSize(QUEUE).setRqSize(QUEUE).setCqSize(2 * QUEUE)) {
            if (shared) {
                makeSrq();
                cfg.setSrq(srq);
            }
            byte[] request =
                    ByteBuffer.allocate(Integer.BYTES).putInt(Answer.SERVICE).array();
            conn = connector.connect(peer, cfg, request, timeout);
        }
        Offer offer = Offer.fromPrivateData(conn.getPrivateData(), Answer.SERVICE);
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(offer.peerCfg())) {
            conn.applyRemotePeerCfg(cfg);
        }
        remote = offer.openMemory();
    }

    private void makeSrq() throws RefusedException {
        // 0: the completions come to the queue of the connection
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create().setRcqSize(0)) {
            srq = unlessRefused(() -> RpmaSrq.create(peer, cfg));
        }
    }

    @Override
    int take(RpmaCompletions into, long nanos) throws InterruptedException {
        return conn.getCq().await(into, nanos, NANOSECONDS);
    }

    @Override
    boolean postAnswer() {
        return srq == null
                ? conn.recv(region, ANSWER_SLOT, Answer.SLOT, ANSWER)
                : srq.recv(region, ANSWER_SLOT, Answer.SLOT, ANSWER);
    }

    @Override
    boolean postMessage(int length) {
        return conn.send(region, MESSAGE_SLOT, length, ALWAYS, MESSAGE);
    }

    @Override
    public void close() {
        try {
            RpmaObjects.closeAll(Stream.of(remote, conn, srq, region)
                    .filter(Objects::nonNull)
                    .toList());
        } catch (RpmaException e) {
            // the objects are closed nevertheless, and the result is known
        }
    }
}
