// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static io.rpma.tools.selftest.End.BATCH;
import static io.rpma.tools.selftest.End.IMMEDIATE;
import static io.rpma.tools.selftest.End.OPERATION;
import static io.rpma.tools.selftest.End.posted;
import static io.rpma.tools.selftest.End.postedUnlessRefused;
import static io.rpma.tools.selftest.LibrpmaEnd.ALWAYS;
import static io.rpma.tools.selftest.LibrpmaEnd.ON_ERROR;

import io.rpma.RpmaBatch;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaPeer;
import io.rpma.support.Connector;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The operations of librpma. */
final class LibrpmaChecks {
    private static final String LIBRARY = "librpma";
    private static final int DATA = Answer.DATA;

    private final RpmaPeer peer;
    private final Connector connector;
    private final long timeout;
    private final Checks checks;

    /** Sets up the checks. */
    LibrpmaChecks(RpmaPeer peer, Connector connector, long timeout, Checks checks) {
        this.peer = peer;
        this.connector = connector;
        this.timeout = timeout;
        this.checks = checks;
    }

    /** An operation on a connection. */
    private interface Operation {
        void run(LibrpmaEnd end) throws IOException, InterruptedException;
    }

    void run() throws IOException, InterruptedException {
        all("send and receive", End::compare);
        all("write", LibrpmaChecks::write);
        all("read", LibrpmaChecks::read);
        all("flush to visibility", end -> flush(end, RpmaFlushType.VISIBILITY));
        some("flush to persistence", end -> flush(end, RpmaFlushType.PERSISTENT));
        some("atomic write", LibrpmaChecks::atomicWrite);
        some("write with immediate data", LibrpmaChecks::writeWithImm);
        some("send with immediate data", LibrpmaChecks::sendWithImm);
        some("write and read of 0 bytes", LibrpmaChecks::empty);
        some("send of 0 bytes", LibrpmaChecks::emptySend);
        some("receive without memory", LibrpmaChecks::emptyReceive);
        all("batch of writes", LibrpmaChecks::batch);
        checks.run(LIBRARY, "shared receive queue", false, () -> on(true, End::compare));
        all("disconnect", this::disconnect);
    }

    private void all(String operation, Operation body) throws IOException, InterruptedException {
        checks.run(LIBRARY, operation, true, () -> on(false, body));
    }

    private void some(String operation, Operation body) throws IOException, InterruptedException {
        checks.run(LIBRARY, operation, false, () -> on(false, body));
    }

    private void on(boolean shared, Operation body) throws IOException, InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(Answer.MEMORY);
                LibrpmaEnd end = new LibrpmaEnd(peer, memory, timeout)) {
            end.connect(connector, timeout, shared);
            body.run(end);
        }
    }

    private static void write(LibrpmaEnd end) throws IOException, InterruptedException {
        end.fill();
        posted(end.conn.write(end.remote, 0, end.region, 0, DATA, ALWAYS, OPERATION));
        end.await(OPERATION);
        end.expect(0, end.bytes(0, DATA));
        end.compare();
    }

    private static void read(LibrpmaEnd end) throws IOException, InterruptedException {
        write(end);
        end.fill();
        posted(end.conn.read(end.region, 0, end.remote, 0, DATA, ALWAYS, OPERATION));
        end.await(OPERATION);
        end.expectRead(0, 0, DATA);
    }

    private static void flush(LibrpmaEnd end, RpmaFlushType type) throws IOException, InterruptedException {
        if (!end.remote.getFlushType().contains(type)) {
            throw new End.RefusedException("the device of the other side refuses ordinary memory for it");
        }
        end.fill();
        posted(end.conn.write(end.remote, 0, end.region, 0, DATA, ON_ERROR, 0));
        postedUnlessRefused(() -> end.conn.flush(end.remote, 0, DATA, type, ALWAYS, OPERATION));
        end.await(OPERATION);
        end.expect(0, end.bytes(0, DATA));
        end.compare();
    }

    private static void atomicWrite(LibrpmaEnd end) throws IOException, InterruptedException {
        long value = System.nanoTime();
        postedUnlessRefused(() -> end.conn.atomicWrite(end.remote, 8, value, ALWAYS, OPERATION));
        end.await(OPERATION);
        end.expect(8, End.word(value));
        end.compare();
    }

    private static void writeWithImm(LibrpmaEnd end) throws IOException, InterruptedException {
        end.fill();
        posted(end.postAnswer());
        postedUnlessRefused(
                () -> end.conn.writeWithImm(end.remote, 0, end.region, 0, DATA, ALWAYS, IMMEDIATE, OPERATION));
        end.await(OPERATION);
        end.expect(0, end.bytes(0, DATA));
        End.check(end.answer(), IMMEDIATE, new byte[0]);
    }

    private static void sendWithImm(LibrpmaEnd end) throws IOException, InterruptedException {
        end.fill();
        byte[] message = end.bytes(0, Answer.MOST);
        posted(end.postAnswer());
        postedUnlessRefused(() -> end.conn.sendWithImm(end.region, 0, message.length, ALWAYS, IMMEDIATE, OPERATION));
        end.await(OPERATION);
        End.check(end.answer(), IMMEDIATE, message);
    }

    private static void empty(LibrpmaEnd end) throws IOException, InterruptedException {
        postedUnlessRefused(() -> end.conn.write(ON_ERROR, OPERATION));
        postedUnlessRefused(() -> end.conn.read(ALWAYS, OPERATION));
        end.await(OPERATION);
        end.compare();
    }

    private static void emptySend(LibrpmaEnd end) throws IOException, InterruptedException {
        posted(end.postAnswer());
        postedUnlessRefused(() -> end.conn.send(ALWAYS, OPERATION));
        end.await(OPERATION);
        End.check(end.answer(), null, new byte[0]);
    }

    /** The other side has no message for it: the post is what a device can refuse. */
    private static void emptyReceive(LibrpmaEnd end) throws IOException, InterruptedException {
        end.compare();
        postedUnlessRefused(() -> end.conn.recv(OPERATION));
    }

    private static void batch(LibrpmaEnd end) throws IOException, InterruptedException {
        end.fill();
        RpmaBatch batch = RpmaBatch.create(BATCH);
        int length = DATA / BATCH;
        for (int i = 0; i < BATCH; i++) {
            int offset = i * length;
            int flags = i + 1 < BATCH ? ON_ERROR : ALWAYS;
            posted(batch.write(end.conn, end.remote, offset, end.region, offset, length, flags, OPERATION));
        }
        posted(batch.post() == BATCH);
        end.await(OPERATION);
        end.expect(0, end.bytes(0, DATA));
        end.compare();
    }

    private void disconnect(LibrpmaEnd end) throws IOException, InterruptedException {
        end.compare();
        posted(end.postAnswer());
        end.conn.disconnect();
        if (end.conn
                .nextEvent(timeout, TimeUnit.NANOSECONDS)
                .filter(RpmaConnEvent.CLOSED::equals)
                .isEmpty()) {
            throw new IOException("no event reports the end of the connection");
        }
        end.awaitFlushed();
    }
}
