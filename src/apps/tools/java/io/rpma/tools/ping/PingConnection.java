// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.support.Connector;
import io.rpma.support.Errors;
import io.rpma.support.LostException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** A connection to the other side, for one message at a time. */
final class PingConnection implements AutoCloseable {
    private final String name;
    private final int size;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final RpmaCompletions completions = RpmaCompletions.create(2);

    private PingConnection(String name, int size, RpmaMemory memory, RpmaMrLocal region, RpmaConn conn) {
        this.name = name;
        this.size = size;
        this.memory = memory;
        this.region = region;
        this.conn = conn;
    }

    /**
     * Connects.
     *
     * @throws LostException if the other side can't be reached, does not answer, or rejects the connection
     * @throws IOException if another program answers
     */
    static PingConnection open(RpmaPeer peer, Connector connector, int size, long timeout)
            throws IOException, InterruptedException {
        RpmaMemory memory = RpmaMemory.allocate(2L * size);
        RpmaMrLocal region = null;
        RpmaConn conn = null;
        boolean established = false;
        try {
            region = peer.register(memory, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
            conn = connector.connect(peer, null, PingMessage.privateData(size), timeout);
            if (!PingMessage.size(conn.getPrivateData()).equals(OptionalInt.of(size))) {
                throw connector.anotherProgram();
            }
            established = true;
            return new PingConnection(connector.toString(), size, memory, region, conn);
        } finally {
            if (!established) {
                close(conn, region, memory);
            }
        }
    }

    /**
     * Sends a message and waits for the answer, which has the same bytes.
     *
     * @return the time of the round trip in nanoseconds
     * @throws LostException if there is no answer; the connection can't be used any more
     */
    long roundTrip(long sequence, long timeout) throws IOException, InterruptedException {
        takeWhileConnected(0);
        ByteBuffer sent = memory.buffer(0, size);
        ByteBuffer answer = memory.buffer(size, size);
        // each message differs from the former answer, which is still in the memory
        for (int i = 0; i + Long.BYTES <= size; i += Long.BYTES) {
            sent.putLong(i, sequence + i);
        }
        post(conn.recv(region, size, size, sequence));
        long begin = System.nanoTime();
        post(conn.send(region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, sequence));
        long end = await(begin, timeout);
        if (!sent.equals(answer)) {
            throw new IOException(name + ": the bytes of the answer are not the bytes of the message");
        }
        return end - begin;
    }

    private int takeWhileConnected(long timeout) throws LostException, InterruptedException {
        try {
            return conn.getCq().awaitWhileConnected(completions, timeout, NANOSECONDS);
        } catch (RpmaException e) {
            throw new LostException(name, Errors.loss(e));
        }
    }

    private static void post(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the queue is full, although the previous message was answered");
        }
    }

    /** Waits for the completions of the send and of the receive, and returns the time of the latter. */
    private long await(long begin, long timeout) throws LostException, InterruptedException {
        long end = 0;
        for (int done = 0; done < 2; done += completions.count()) {
            long left = begin + timeout - System.nanoTime();
            if (takeWhileConnected(Math.max(0, left)) == 0) {
                throw new LostException(name, "no answer within " + NANOSECONDS.toMillis(timeout) + " ms");
            }
            long now = System.nanoTime();
            for (int i = 0; i < completions.count(); i++) {
                if (!completions.isSuccess(i)) {
                    throw new LostException(name, "the connection is lost: " + completions.status(i));
                }
                if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                    end = now;
                }
            }
        }
        return end;
    }

    @Override
    public void close() {
        close(conn, region, memory);
    }

    private static void close(RpmaConn conn, RpmaMrLocal region, RpmaMemory memory) {
        if (conn != null) {
            Connector.close(conn);
        }
        if (region != null) {
            region.close();
        }
        memory.close();
    }
}
