// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.support.Offer;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The listening side of a connection of librpma. */
final class LibrpmaSession {
    /** The context of answers, which are not receives. */
    private static final int SENT = -1;

    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;

    private LibrpmaSession(RpmaMemory memory, RpmaMrLocal region, RpmaConn conn) {
        this.memory = memory;
        this.region = region;
        this.conn = conn;
    }

    /** Accepts a client, and answers its messages until it is silent, or a call fails because the connection has ended. */
    static void serve(RpmaPeer peer, RpmaConnReq request) throws InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(Session.MEMORY);
                RpmaMrLocal region = register(peer, memory)) {
            for (int slot = 0; slot < Session.SLOTS; slot++) {
                request.recv(region, Session.offset(slot), Answer.SLOT, slot);
            }
            // an operation is tested here, not a platform: the client may flush to persistence
            Offer offer = Offer.of(peer, region, true);
            try (RpmaConn conn = request.connect(offer.toPrivateData(Answer.SERVICE))) {
                new LibrpmaSession(memory, region, conn).serve();
            }
        }
    }

    /** Registers for persistence, too, unless the device refuses memory that is not persistent. */
    private static RpmaMrLocal register(RpmaPeer peer, RpmaMemory memory) {
        RpmaMrUsage[] usages = {
            RpmaMrUsage.READ_SRC,
            RpmaMrUsage.WRITE_DST,
            RpmaMrUsage.SEND,
            RpmaMrUsage.RECV,
            RpmaMrUsage.FLUSH_TYPE_VISIBILITY
        };
        try {
            return peer.register(memory, and(usages, RpmaMrUsage.FLUSH_TYPE_PERSISTENT));
        } catch (RpmaException e) {
            return peer.register(memory, usages);
        }
    }

    private static RpmaMrUsage[] and(RpmaMrUsage[] usages, RpmaMrUsage further) {
        RpmaMrUsage[] all = Arrays.copyOf(usages, usages.length + 1);
        all[usages.length] = further;
        return all;
    }

    private void serve() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(Session.SLOTS);
        boolean connected = true;
        while (connected) {
            connected = conn.getCq().awaitWhileConnected(completions, Session.SILENCE_S, SECONDS) > 0
                    && answer(completions);
        }
    }

    /** Returns whether the connection still works. */
    private boolean answer(RpmaCompletions completions) {
        for (int i = 0; i < completions.count(); i++) {
            if (!completions.isSuccess(i)) {
                return false;
            }
            RpmaWcOpcode opcode = completions.opcode(i);
            if (opcode == RpmaWcOpcode.RECV || opcode == RpmaWcOpcode.RECV_RDMA_WITH_IMM) {
                long slot = Session.offset((int) completions.wrId(i));
                ByteBuffer to = memory.buffer(Session.ANSWER_OFFSET, Answer.SLOT);
                int length = Answer.to(completions, i, opcode == RpmaWcOpcode.RECV, memory, slot)
                        .write(to);
                if (!conn.recv(region, slot, Answer.SLOT, completions.wrId(i))
                        || !conn.send(region, Session.ANSWER_OFFSET, length, RpmaConn.F_COMPLETION_ALWAYS, SENT)) {
                    return false;
                }
            }
        }
        return true;
    }
}
