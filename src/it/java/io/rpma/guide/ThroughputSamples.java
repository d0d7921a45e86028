// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaBatch;
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemoryPool;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The samples of docs/guide/throughput.md. */
final class ThroughputSamples {
    static final int BLOCK = 4096;
    static final int DEPTH = 64;
    static final int SIGNALLED = 16;

    private ThroughputSamples() {}

    static RpmaConnCfg queues() {
        return RpmaConnCfg.create().setSqSize(DEPTH).setRqSize(0).setCqSize(DEPTH);
    }

    /** Writes blocks, with at most DEPTH under way. */
    static void pipeline(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local, int blocks)
            throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(8);
        int posted = 0;
        int completed = 0;
        while (completed < blocks) {
            while (posted < blocks && posted - completed < DEPTH) {
                boolean signalled = posted % SIGNALLED == SIGNALLED - 1 || posted == blocks - 1;
                int flags = signalled ? RpmaConn.F_COMPLETION_ALWAYS : RpmaConn.F_COMPLETION_ON_ERROR;
                long offset = (long) posted * BLOCK;
                if (!conn.write(remote, offset, local, offset, BLOCK, flags, posted)) {
                    break;
                }
                posted++;
            }
            if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0) {
                throw new IOException("no completion after block " + completed);
            }
            for (int i = 0; i < completions.count(); i++) {
                if (!completions.isSuccess(i)) {
                    throw new IOException("block " + completions.wrId(i) + ": " + completions.status(i));
                }
                completed = (int) completions.wrId(i) + 1;
            }
        }
    }

    /** Posts 15 writes and a flush in one call. */
    static void batch(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local) throws IOException, InterruptedException {
        RpmaBatch batch = RpmaBatch.create(16);
        for (int i = 0; i < 15; i++) {
            batch.write(conn, remote, i * 64, local, i * 64, 64, RpmaConn.F_COMPLETION_ON_ERROR, i);
        }
        batch.flush(conn, remote, 0, 15 * 64, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 15);
        batch.post();
        if (batch.count() != 0) {
            throw new IOException("the send queue is full");
        }
        awaitOne(conn);
    }

    private static void awaitOne(RpmaConn conn) throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException("not written: " + completions);
        }
    }

    /**
     * Writes a number from a buffer of the pool. Returns false if a buffer or the send queue must become free first.
     */
    static boolean writeNumber(
            RpmaConn conn, RpmaMrRemote remote, RpmaMemoryPool pool, RpmaMrLocal region, long number) {
        long ticket = pool.take();
        if (ticket == RpmaMemoryPool.EMPTY) {
            return false;
        }
        pool.buffer(ticket).putLong(number);
        boolean posted =
                conn.write(remote, 0, region, pool.offset(ticket), Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, ticket);
        if (!posted) {
            pool.giveBack(ticket);
        }
        return posted;
    }

    /** Gives back the buffers of the operations that have ended, whether they succeeded or not. */
    static void giveBack(RpmaCompletions completions, RpmaMemoryPool pool) {
        for (int i = 0; i < completions.count(); i++) {
            pool.giveBack(completions.wrId(i));
        }
    }

    /** Posts 16 writes as a chain: one call of the device's driver. */
    static boolean chain(RdmaQp qp, RdmaMr local, long remoteAddr, int rkey) {
        RdmaBatch batch = RdmaBatch.create(16);
        for (int i = 0; i < 16; i++) {
            batch.write(qp, local, 64 * i, 64, 0, remoteAddr + 64 * i, rkey, i);
        }
        batch.signalLast();
        return batch.post() == 16;
    }
}
