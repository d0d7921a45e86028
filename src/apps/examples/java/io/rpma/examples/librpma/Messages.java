// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrq;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Registered memory for two messages: one to send, followed by one to receive. */
final class Messages implements AutoCloseable {
    private final int size;
    private final RpmaMemory memory;
    private final RpmaMrLocal mr;

    /** Allocates and registers memory for messages of at most this size. */
    Messages(RpmaPeer peer, int size) {
        this.size = size;
        memory = RpmaMemory.allocate(2L * size);
        mr = peer.register(memory, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
    }

    void recv(RpmaConnReq req) {
        Common.posted(req.recv(mr, size, size, 0));
    }

    void recv(RpmaConn conn) {
        Common.posted(conn.recv(mr, size, size, 0));
    }

    void recv(RpmaSrq srq, long opContext) {
        Common.posted(srq.recv(mr, size, size, opContext));
    }

    /** Returns the received message, which has this length. */
    ByteBuffer received(long length) {
        return memory.buffer(size, (int) length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Sends a message. The previous send must be complete, because this message overwrites the previous one. */
    void send(RpmaConn conn, byte[] message) {
        memory.buffer(0, size).put(message);
        Common.posted(conn.send(mr, 0, message.length, RpmaConn.F_COMPLETION_ALWAYS, 0));
    }

    @Override
    public void close() {
        mr.close();
        memory.close();
    }
}
