// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcOpcode;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAh;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;

/** The listening side of a connection of librdmacm, or of datagrams. */
final class LibrdmacmSession {
    private static final int QUEUE = 8;

    private final RpmaMemory memory;
    private final RdmaMr region;
    private final RdmaId id;
    private final RdmaQp qp;

    private LibrdmacmSession(RpmaMemory memory, RdmaMr region, RdmaId id) {
        this.memory = memory;
        this.region = region;
        this.id = id;
        qp = id.qp();
    }

    /** Accepts a client, and answers its messages until it is silent, or a call fails because the connection has ended. */
    static void serve(RdmaId id) throws InterruptedException {
        id.createQp(new RdmaQpInitAttr().maxSendWr(QUEUE).maxRecvWr(QUEUE));
        try (RpmaMemory memory = RpmaMemory.allocate(Session.MEMORY);
                RdmaMr region = register(id, memory)) {
            LibrdmacmSession session = new LibrdmacmSession(memory, region, id);
            for (int slot = 0; slot < Session.SLOTS; slot++) {
                session.receive(slot);
            }
            id.accept(new RdmaConnParam().privateData(new Offered(region.address(), region.rkey()).toPrivateData()));
            session.serve();
        }
    }

    /** Registers for atomic operations, too, unless the device has none. */
    private static RdmaMr register(RdmaId id, RpmaMemory memory) {
        try {
            return RdmaMr.reg(id, memory, RdmaAccess.values());
        } catch (RpmaException e) {
            return RdmaMr.reg(id, memory, RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_WRITE, RdmaAccess.REMOTE_READ);
        }
    }

    private boolean receive(long slot) {
        return qp.postRecv(region, Session.offset((int) slot), Answer.SLOT, slot);
    }

    private void serve() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(Session.SLOTS);
        boolean datagrams = id.portSpace() == RdmaPortSpace.UDP;
        int silence = datagrams ? Session.DATAGRAM_SILENCE_S : Session.SILENCE_S;
        boolean connected = true;
        while (connected) {
            qp.pollSendComp(completions);
            connected = qp.getRecvCompWhileConnected(completions, silence, SECONDS) > 0 && answer(completions);
        }
    }

    /** Returns whether the connection still works. */
    private boolean answer(RpmaCompletions completions) throws InterruptedException {
        for (int i = 0; i < completions.count(); i++) {
            if (!completions.isSuccess(i)) {
                return false;
            }
            long slot = completions.wrId(i);
            if (id.portSpace() == RdmaPortSpace.UDP) {
                sendBack(completions, i, Session.offset((int) slot));
                receive(slot);
                continue;
            }
            boolean message = completions.opcode(i) == RpmaWcOpcode.RECV;
            int length = Answer.to(completions, i, message, memory, Session.offset((int) slot))
                    .write(memory.buffer(Session.ANSWER_OFFSET, Answer.SLOT));
            if (!receive(slot) || !qp.postSend(region, Session.ANSWER_OFFSET, length, RdmaQp.F_SIGNALED, 0)) {
                return false;
            }
        }
        return true;
    }

    /** Sends a datagram back, and waits for its completion, because the address handle must exist until then. */
    private void sendBack(RpmaCompletions completions, int i, long offset) throws InterruptedException {
        int length = (int) completions.byteLen(i) - LibrdmacmChecks.HEADER;
        memory.buffer(Session.ANSWER_OFFSET, length).put(memory.buffer(offset + LibrdmacmChecks.HEADER, length));
        try (RdmaAh back = id.createAh(completions, i, region, offset)) {
            qp.postUdSend(region, Session.ANSWER_OFFSET, length, RdmaQp.F_SIGNALED, back, completions.srcQp(i), 0);
            qp.getSendComp(RpmaCompletions.create(1), Session.SILENCE_S, SECONDS);
        }
    }
}
