// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The protocol of {@code rping}. For each ping, the client offers a source, which the server reads, and a sink, to
 * which the server writes the same bytes. An offer is a message with an address, a key and a size. The contents of the
 * server's answers have no meaning.
 */
final class Rping implements AutoCloseable {
    static final int DEFAULT_SIZE = 64;

    static final int OFFER_SIZE = 16;

    private static final int ADDRESS = 0;
    private static final int KEY = 8;
    private static final int LENGTH = 12;
    private static final int INCOMING = 0;
    private static final int OUTGOING = OFFER_SIZE;
    private static final int FIRST_LETTER = 'A';
    private static final int LAST_LETTER = 'z';

    /**
     * Memory of the client.
     *
     * @param address the address of the first byte
     * @param key the key of the region
     * @param length the number of bytes
     */
    record Offer(long address, int key, int length) {
        /**
         * Reads an offer.
         *
         * @param room the number of bytes that this side has for the memory's content
         * @throws IllegalStateException if the memory has no byte, does not fit or does not exist
         */
        static Offer get(ByteBuffer message, int room) {
            long address = message.getLong(ADDRESS);
            int length = message.getInt(LENGTH);
            if (length < 1 || length > room) {
                throw new IllegalStateException("the client offers " + length + " bytes: this side takes 1 to " + room);
            }
            if (Long.compareUnsigned(address, -length) > 0) {
                throw new IllegalStateException("the client offers " + length + " bytes at address 0x"
                        + Long.toHexString(address) + ", which do not exist");
            }
            return new Offer(address, message.getInt(KEY), length);
        }
    }

    private final RdmaId id;
    private final RdmaQp qp;
    private final RpmaMemory offers = RpmaMemory.allocate(2 * OFFER_SIZE);
    private final RpmaMemory source;
    private final RpmaMemory sink;
    private final RdmaMr offersMr;
    private final RdmaMr sourceMr;
    private final RdmaMr sinkMr;
    private final RpmaCompletions completions = RpmaCompletions.create(1);

    /** Posts the first receive, which must be posted before the connection is made. */
    Rping(RdmaId id, int size) {
        this.id = id;
        qp = id.qp();
        source = RpmaMemory.allocate(size);
        sink = RpmaMemory.allocate(size);
        offersMr = RdmaMr.regMsgs(id, offers);
        sourceMr = RdmaMr.reg(id, source, RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_READ, RdmaAccess.REMOTE_WRITE);
        sinkMr = RdmaMr.reg(id, sink, RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_READ, RdmaAccess.REMOTE_WRITE);
        postReceive();
    }

    static RdmaQpInitAttr attr() {
        return new RdmaQpInitAttr().maxSendWr(16).maxRecvWr(2);
    }

    static RdmaConnParam param() {
        return new RdmaConnParam().responderResources(1).initiatorDepth(1);
    }

    private void postReceive() {
        Side.posted(qp.postRecv(offersMr, INCOMING, OFFER_SIZE, 0));
    }

    private void send() throws InterruptedException {
        Side.posted(qp.postSend(offersMr, OUTGOING, OFFER_SIZE, RdmaQp.F_SIGNALED, 0));
        Side.awaitDone(qp, completions);
    }

    /** Waits for a message and returns it; null if the other side has disconnected. */
    private ByteBuffer receive() throws InterruptedException {
        if (!Side.awaitMessage(id, completions)) {
            return null;
        }
        if (completions.byteLen(0) != OFFER_SIZE) {
            throw new IllegalStateException("a message of " + completions.byteLen(0) + " bytes is none of rping's");
        }
        byte[] message = new byte[OFFER_SIZE];
        offers.buffer().get(INCOMING, message);
        postReceive();
        return ByteBuffer.wrap(message);
    }

    /**
     * Carries out the server's part of a ping.
     *
     * @return the text from the client, or null if the client has disconnected
     */
    String answer() throws InterruptedException {
        ByteBuffer message = receive();
        if (message == null) {
            return null;
        }
        int room = (int) sink.size();
        Offer from = Offer.get(message, room);
        Side.posted(qp.postRead(sinkMr, 0, from.length(), RdmaQp.F_SIGNALED, from.address(), from.key(), 0));
        Side.awaitDone(qp, completions);
        String data = text(sink.buffer(0, from.length()));
        send();
        message = receive();
        if (message == null) {
            return null;
        }
        Offer to = Offer.get(message, room);
        int length = Math.min(Math.min(from.length(), to.length()), data.length() + 1);
        Side.posted(qp.postWrite(sinkMr, 0, length, RdmaQp.F_SIGNALED, to.address(), to.key(), 0));
        Side.awaitDone(qp, completions);
        send();
        return data;
    }

    /**
     * Carries out the client's part of a ping.
     *
     * @return the text that the server has written
     */
    String ping(int number) throws InterruptedException {
        fill(number);
        offer(source, sourceMr);
        offer(sink, sinkMr);
        if (source.buffer().mismatch(sink.buffer()) >= 0) {
            throw new IllegalStateException("data mismatch!");
        }
        return text(sink.buffer());
    }

    private void offer(RpmaMemory memory, RdmaMr region) throws InterruptedException {
        offers.buffer()
                .putLong(OUTGOING + ADDRESS, region.address())
                .putInt(OUTGOING + KEY, region.rkey())
                .putInt(OUTGOING + LENGTH, (int) memory.size());
        send();
        if (receive() == null) {
            throw new IllegalStateException("the server has disconnected");
        }
    }

    /**
     * Fills the source as rping does: a number, letters that begin with another letter for each ping, and a 0 at the
     * end.
     */
    private void fill(int number) {
        ByteBuffer buffer = source.buffer();
        buffer.put(("rdma-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII));
        int letters = LAST_LETTER - FIRST_LETTER + 1;
        for (int i = 0; buffer.hasRemaining(); i++) {
            buffer.put((byte) (FIRST_LETTER + (number + i) % letters));
        }
        buffer.put(buffer.capacity() - 1, (byte) 0);
    }

    /** Returns the text before the first 0. */
    private static String text(ByteBuffer bytes) {
        String all = StandardCharsets.ISO_8859_1.decode(bytes).toString();
        int end = all.indexOf('\0');
        return end < 0 ? all : all.substring(0, end);
    }

    @Override
    public void close() {
        sinkMr.close();
        sourceMr.close();
        offersMr.close();
        sink.close();
        source.close();
        offers.close();
    }
}
