// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.util.Arrays;

/**
 * A client's side of a connection with the target.
 *
 * @param conn the connection
 * @param cq the completion queue of the connection
 * @param dram the target's volatile memory
 * @param pmem the target's persistent memory, or null
 * @param memory the source and destination on this side
 */
record Connection(RpmaConn conn, RpmaCq cq, RpmaMrRemote dram, RpmaMrRemote pmem, RpmaMrLocal memory) implements End {
    /** The size of the send queue, and of the receive queue, of a connection that is measured alone. */
    static final int QUEUE_SIZE = 256;

    /** The size of the send queue, and of the receive queue, of each of many connections, at the target's next port. */
    static final int SMALL_QUEUE_SIZE = 16;

    // struct offer of src/apps/bench/c/common.h
    private static final int DRAM = 0;
    private static final int PMEM = DRAM + RpmaMrLocal.DESCRIPTOR_SIZE;
    private static final int PEER_CFG = PMEM + RpmaMrLocal.DESCRIPTOR_SIZE;
    private static final int END = PEER_CFG + RpmaPeerCfg.DESCRIPTOR_SIZE;

    static Connection open(RpmaPeer peer, String address, int port, int queueSize, RpmaMrLocal memory)
            throws InterruptedException {
        RpmaConn conn;
        try (RpmaConnCfg cfg =
                RpmaConnCfg.create().setSqSize(queueSize).setRqSize(queueSize).setCqSize(2 * queueSize)) {
            conn = RpmaConnReq.create(peer, address, port, cfg).connect();
        }
        expect(conn, RpmaConnEvent.ESTABLISHED);
        byte[] offer = conn.getPrivateData();
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(Arrays.copyOfRange(offer, PEER_CFG, END))) {
            conn.applyRemotePeerCfg(cfg);
        }
        return new Connection(
                conn,
                conn.getCq(),
                openOffered(Arrays.copyOfRange(offer, DRAM, PMEM)),
                openOffered(Arrays.copyOfRange(offer, PMEM, PEER_CFG)),
                memory);
    }

    private static RpmaMrRemote openOffered(byte[] descriptor) {
        return Arrays.equals(descriptor, new byte[RpmaMrLocal.DESCRIPTOR_SIZE])
                ? null
                : RpmaMrRemote.fromDescriptor(descriptor);
    }

    private static void expect(RpmaConn conn, RpmaConnEvent expected) throws InterruptedException {
        RpmaConnEvent event = conn.nextEvent();
        if (event != expected) {
            throw new IllegalStateException("expected " + expected + ", and the connection is " + event);
        }
    }

    @Override
    public void receive(long offset, long size, long number) {
        End.check(conn.recv(memory, offset, size, number));
    }

    @Override
    public int poll(RpmaCompletions completions) {
        return cq.poll(completions);
    }

    @Override
    public int await(Operation operation, RpmaCompletions completions) throws InterruptedException {
        return cq.await(completions);
    }

    @Override
    public void post(Operation operation, long offset, long size, long number) {
        switch (operation) {
            case WRITE:
                End.check(conn.write(dram, offset, memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case READ:
                End.check(conn.read(memory, offset, dram, offset, size, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case FLUSH_VISIBILITY:
                flush(dram, offset, size, number, RpmaFlushType.VISIBILITY);
                break;
            case FLUSH_PERSISTENT:
                flush(pmem, offset, size, number, RpmaFlushType.PERSISTENT);
                break;
            case ATOMIC_WRITE:
                End.check(conn.atomicWrite(dram, offset, number, RpmaConn.F_COMPLETION_ALWAYS, number));
                break;
            case SEND:
                End.check(conn.send(memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, NOT_COUNTED));
                break;
            case WRITE_WITH_IMM:
                End.check(conn.writeWithImm(
                        dram, offset, memory, offset, size, RpmaConn.F_COMPLETION_ALWAYS, (int) number, NOT_COUNTED));
                break;
            default:
                throw new AssertionError(operation);
        }
    }

    private void flush(RpmaMrRemote remote, long offset, long size, long number, RpmaFlushType type) {
        End.check(conn.write(remote, offset, memory, offset, size, RpmaConn.F_COMPLETION_ON_ERROR, number));
        End.check(conn.flush(remote, offset, size, type, RpmaConn.F_COMPLETION_ALWAYS, number));
    }

    @Override
    public void serve(RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<RpmaCompletions> handler) {
        loop.onCompletion(cq, batchSize, (queue, completions) -> handler.handle(completions));
    }

    void close() throws InterruptedException {
        dram.close();
        if (pmem != null) {
            pmem.close();
        }
        conn.disconnect();
        expect(conn, RpmaConnEvent.CLOSED);
        conn.close();
    }
}
