// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static io.rpma.tools.selftest.End.ANSWER;
import static io.rpma.tools.selftest.End.ANSWER_SLOT;
import static io.rpma.tools.selftest.End.BATCH;
import static io.rpma.tools.selftest.End.IMMEDIATE;
import static io.rpma.tools.selftest.End.MESSAGE_SLOT;
import static io.rpma.tools.selftest.End.OPERATION;
import static io.rpma.tools.selftest.End.posted;
import static io.rpma.tools.selftest.End.postedUnlessRefused;
import static io.rpma.tools.selftest.End.unlessRefused;
import static io.rpma.tools.selftest.LibrdmacmEnd.SIGNALED;

import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAh;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaPreparedBatch;
import io.rpma.rdmacm.RdmaSgeList;
import io.rpma.support.Connector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The operations of librdmacm and libibverbs. */
final class LibrdmacmChecks {
    private static final String LIBRARY = "librdmacm";
    private static final int DATA = Answer.DATA;
    private static final int INLINE = 32;
    private static final int PARTS = 2;

    private static final long RESEND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The device puts a header in front of a datagram. */
    static final int HEADER = 40;

    private final Connector connector;
    private final long timeout;
    private final Checks checks;

    /** Sets up the checks. */
    LibrdmacmChecks(Connector connector, long timeout, Checks checks) {
        this.connector = connector;
        this.timeout = timeout;
        this.checks = checks;
    }

    /** The setup of a side before its connection, or an operation on the connection. */
    private interface Step {
        void run(LibrdmacmEnd end) throws IOException, InterruptedException;
    }

    void run() throws IOException, InterruptedException {
        all("send and receive", End::compare);
        all("write", LibrdmacmChecks::write);
        all("read", LibrdmacmChecks::read);
        some("write of inline data", LibrdmacmChecks::inline, LibrdmacmChecks::writeInline);
        some("send of inline data", LibrdmacmChecks::inline, LibrdmacmChecks::sendInline);
        some("write of several parts", LibrdmacmChecks::parts, LibrdmacmChecks::writeParts);
        some("read into several parts", LibrdmacmChecks::parts, LibrdmacmChecks::readParts);
        some("write with immediate data", LibrdmacmChecks::plain, LibrdmacmChecks::writeWithImm);
        some("send with immediate data", LibrdmacmChecks::plain, LibrdmacmChecks::sendWithImm);
        some("compare and swap", LibrdmacmChecks::plain, LibrdmacmChecks::compareAndSwap);
        some("fetch and add", LibrdmacmChecks::plain, LibrdmacmChecks::fetchAndAdd);
        all("batch of writes", LibrdmacmChecks::batch);
        all("prepared batch", LibrdmacmChecks::preparedBatch);
        some("shared receive queue", LibrdmacmChecks::shared, End::compare);
        checks.run(LIBRARY, "datagrams", false, this::datagrams);
        all("disconnect", this::disconnect);
    }

    private static void plain(LibrdmacmEnd end) {
        end.createQp(LibrdmacmEnd.attr());
    }

    /** A device can grant less than was asked for. */
    private static void inline(LibrdmacmEnd end) throws IOException {
        if (unlessRefused(() -> end.createQp(LibrdmacmEnd.attr().maxInlineData(INLINE)))
                        .maxInlineData()
                < INLINE) {
            throw new End.RefusedException("the device has no inline data");
        }
    }

    private static void parts(LibrdmacmEnd end) throws IOException {
        if (unlessRefused(() -> end.createQp(LibrdmacmEnd.attr().maxSendSge(PARTS)))
                        .maxSendSge()
                < PARTS) {
            throw new End.RefusedException("the device writes one part only");
        }
    }

    private static void shared(LibrdmacmEnd end) throws IOException {
        end.makeSrq();
        unlessRefused(() -> end.createQp(LibrdmacmEnd.attr()));
    }

    private void all(String operation, Step body) throws IOException, InterruptedException {
        checks.run(LIBRARY, operation, true, () -> on(LibrdmacmChecks::plain, body));
    }

    private void some(String operation, Step setup, Step body) throws IOException, InterruptedException {
        checks.run(LIBRARY, operation, false, () -> on(setup, body));
    }

    private void on(Step setup, Step body) throws IOException, InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(Answer.MEMORY);
                LibrdmacmEnd end = new LibrdmacmEnd(connector, RdmaPortSpace.TCP, memory, timeout)) {
            setup.run(end);
            end.connect();
            body.run(end);
        }
    }

    /** Waits for the operation, which has copied the beginning of this side's memory, and compares. */
    private static void written(LibrdmacmEnd end, int length) throws IOException, InterruptedException {
        end.await(OPERATION);
        end.expect(0, end.bytes(0, length));
        end.compare();
    }

    private static void write(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        posted(end.qp.postWrite(end.region, 0, DATA, SIGNALED, end.remoteAddr, end.rkey, OPERATION));
        written(end, DATA);
    }

    private static void read(LibrdmacmEnd end) throws IOException, InterruptedException {
        write(end);
        end.fill();
        posted(end.qp.postRead(end.region, 0, DATA, SIGNALED, end.remoteAddr, end.rkey, OPERATION));
        end.await(OPERATION);
        end.expectRead(0, 0, DATA);
    }

    private static void writeInline(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        postedUnlessRefused(() ->
                end.qp.postWriteInline(end.inline(INLINE), INLINE, SIGNALED, end.remoteAddr, end.rkey, OPERATION));
        written(end, INLINE);
    }

    private static void sendInline(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        posted(end.postAnswer());
        postedUnlessRefused(() -> end.qp.postSendInline(end.inline(INLINE), INLINE, SIGNALED, OPERATION));
        end.await(OPERATION);
        End.check(end.answer(), null, end.bytes(0, INLINE));
    }

    /** The halves of this side's memory. */
    private static RdmaSgeList halves(LibrdmacmEnd end) {
        return RdmaSgeList.create(PARTS).add(end.region, 0, DATA / 2).add(end.region, DATA / 2, DATA / 2);
    }

    private static void writeParts(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        postedUnlessRefused(() -> end.qp.postWritev(halves(end), SIGNALED, end.remoteAddr, end.rkey, OPERATION));
        written(end, DATA);
    }

    private static void readParts(LibrdmacmEnd end) throws IOException, InterruptedException {
        if (end.qp.maxReadSge() < PARTS) {
            throw new End.RefusedException("the device reads into one part only");
        }
        write(end);
        end.fill();
        postedUnlessRefused(() -> end.qp.postReadv(halves(end), SIGNALED, end.remoteAddr, end.rkey, OPERATION));
        end.await(OPERATION);
        end.expectRead(0, 0, DATA);
    }

    private static void writeWithImm(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        posted(end.postAnswer());
        postedUnlessRefused(() ->
                end.qp.postWriteWithImm(end.region, 0, DATA, SIGNALED, end.remoteAddr, end.rkey, IMMEDIATE, OPERATION));
        end.await(OPERATION);
        end.expect(0, end.bytes(0, DATA));
        End.check(end.answer(), IMMEDIATE, new byte[0]);
    }

    private static void sendWithImm(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.fill();
        byte[] message = end.bytes(0, Answer.MOST);
        posted(end.postAnswer());
        postedUnlessRefused(
                () -> end.qp.postSendWithImm(end.region, 0, message.length, SIGNALED, IMMEDIATE, OPERATION));
        end.await(OPERATION);
        End.check(end.answer(), IMMEDIATE, message);
    }

    /** Compares the word that an atomic operation has brought back, and then what it has left. */
    private static void atomic(LibrdmacmEnd end, byte[] before, byte[] after) throws IOException, InterruptedException {
        end.await(OPERATION);
        if (!Arrays.equals(before, end.bytes(0, Long.BYTES))) {
            throw new IOException("the operation has brought back another word than was there");
        }
        end.expect(0, after);
        end.compare();
    }

    private static void compareAndSwap(LibrdmacmEnd end) throws IOException, InterruptedException {
        write(end);
        end.accessCanBeRefused();
        long before = ByteBuffer.wrap(end.bytes(0, Long.BYTES))
                .order(ByteOrder.nativeOrder())
                .getLong();
        end.fill();
        postedUnlessRefused(() -> end.qp.postCompareAndSwap(
                end.region, 0, SIGNALED, end.remoteAddr, end.rkey, before, ~before, OPERATION));
        atomic(end, End.word(before), End.word(~before));
    }

    private static void fetchAndAdd(LibrdmacmEnd end) throws IOException, InterruptedException {
        write(end);
        end.accessCanBeRefused();
        long before = ByteBuffer.wrap(end.bytes(0, Long.BYTES))
                .order(ByteOrder.nativeOrder())
                .getLong();
        end.fill();
        postedUnlessRefused(
                () -> end.qp.postFetchAndAdd(end.region, 0, SIGNALED, end.remoteAddr, end.rkey, IMMEDIATE, OPERATION));
        atomic(end, End.word(before), End.word(before + IMMEDIATE));
    }

    private static RdmaBatch writes(LibrdmacmEnd end) throws IOException {
        end.fill();
        RdmaBatch batch = RdmaBatch.create(BATCH);
        int length = DATA / BATCH;
        for (int i = 0; i < BATCH; i++) {
            int offset = i * length;
            posted(batch.write(end.qp, end.region, offset, length, 0, end.remoteAddr + offset, end.rkey, OPERATION));
        }
        batch.signalLast();
        return batch;
    }

    private static void batch(LibrdmacmEnd end) throws IOException, InterruptedException {
        posted(writes(end).post() == BATCH);
        written(end, DATA);
    }

    private static void preparedBatch(LibrdmacmEnd end) throws IOException, InterruptedException {
        RdmaPreparedBatch prepared = writes(end).prepare();
        posted(prepared.post());
        written(end, DATA);
    }

    private void datagrams() throws IOException, InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(Answer.MEMORY);
                LibrdmacmEnd end = new LibrdmacmEnd(connector.atNextPort(), RdmaPortSpace.UDP, memory, timeout)) {
            unlessRefused(() -> end.createQp(LibrdmacmEnd.attr()));
            end.connect();
            end.fill();
            byte[] message = end.bytes(0, INLINE);
            posted(end.qp.postRecv(end.region, ANSWER_SLOT, Answer.SLOT, ANSWER));
            try (RdmaAh there = end.id.createAh(end.established)) {
                // datagrams can be lost
                do {
                    posted(end.qp.postUdSend(
                            end.region, 0, INLINE, SIGNALED, there, end.established.qpNum(), OPERATION));
                    end.await(OPERATION);
                } while (!end.hasAnswer(RESEND_NANOS));
            }
            end.await(ANSWER);
            if (!Arrays.equals(message, end.bytes(MESSAGE_SLOT + Answer.SLOT + HEADER, INLINE))) {
                throw new IOException("the other side has sent back other bytes");
            }
        }
    }

    private void disconnect(LibrdmacmEnd end) throws IOException, InterruptedException {
        end.compare();
        posted(end.postAnswer());
        end.id.disconnect();
        end.id.awaitEvent(RdmaEventType.DISCONNECTED, timeout, TimeUnit.NANOSECONDS);
        end.awaitFlushed();
    }
}
