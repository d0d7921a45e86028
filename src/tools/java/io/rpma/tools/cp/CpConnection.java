// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.examples.common.LostException;
import io.rpma.examples.common.SourceFile;
import io.rpma.tools.common.Connector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The sending side of a connection. */
final class CpConnection implements AutoCloseable {
    /** The answers of all blocks, and more: the receiver's device resends a message that finds no receive. */
    private static final int RECEIVES = CpMessage.SLOTS + 2;

    private static final int SENDS = 2 * CpMessage.SLOTS + 1;
    private static final long CHECK_MS = 200;

    /** The bytes that are read between two looks at the clock. A slow disk or network has them in less than a second. */
    private static final int PART = 64 << 10;

    private static final long BLOCKS = (long) CpMessage.SLOTS * CpMessage.BLOCK;

    /** The memory of a connection: the blocks, the request, and the answers. */
    static final long MEMORY = BLOCKS + (1 + RECEIVES) * (long) CpMessage.LENGTH;

    private final Connector connector;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final long silence;
    private final RpmaCompletions completions = RpmaCompletions.create(1);

    /** The sends and writes without a completion. They can outlast the answers of the receiver. */
    private int sends;

    /** The time of the last send or write. */
    private long lastSend;

    private long posted;
    private long done;
    private boolean complete;

    private CpConnection(
            Connector connector,
            RpmaMemory memory,
            RpmaMrLocal region,
            RpmaConn conn,
            RpmaMrRemote remote,
            long silence) {
        this.connector = connector;
        this.memory = memory;
        this.region = region;
        this.conn = conn;
        this.remote = remote;
        this.silence = silence;
        for (int slot = 0; slot < RECEIVES; slot++) {
            receive(slot);
        }
    }

    /**
     * Makes one attempt to connect.
     *
     * @param nanos the longest time for the attempt
     * @param silence the time without a block after which the receiver gets a sign while the file is read, in nanoseconds
     * @throws LostException if the receiver can't be reached, does not answer, or rejects the connection
     * @throws IOException if another program answers
     */
    static CpConnection open(
            RpmaPeer peer, Connector connector, RpmaMemory memory, RpmaMrLocal region, long nanos, long silence)
            throws IOException, InterruptedException {
        RpmaConn conn;
        try (RpmaConnCfg cfg =
                RpmaConnCfg.create().setSqSize(SENDS).setRqSize(RECEIVES).setCqSize(SENDS + RECEIVES)) {
            conn = connector.connect(peer, cfg, CpMessage.privateData(), nanos);
        }
        boolean open = false;
        try {
            CpConnection connection =
                    new CpConnection(connector, memory, region, conn, remote(connector, conn), silence);
            open = true;
            return connection;
        } finally {
            if (!open) {
                Connector.close(conn);
            }
        }
    }

    private static RpmaMrRemote remote(Connector connector, RpmaConn conn) throws IOException {
        byte[] data = conn.getPrivateData();
        int end = Integer.BYTES + RpmaMrLocal.DESCRIPTOR_SIZE;
        if (data.length < end || ByteBuffer.wrap(data).getInt() != CpMessage.SERVICE) {
            throw connector.anotherProgram();
        }
        RpmaMrRemote remote = null;
        boolean usable = false;
        try {
            remote = RpmaMrRemote.fromDescriptor(Arrays.copyOfRange(data, Integer.BYTES, end));
            usable = remote.getSize() >= BLOCKS;
        } catch (IllegalArgumentException e) {
            // another program
        } finally {
            if (remote != null && !usable) {
                remote.close();
            }
        }
        if (!usable) {
            throw connector.anotherProgram();
        }
        return remote;
    }

    private static long offset(long slot) {
        return BLOCKS + (1 + slot) * CpMessage.LENGTH;
    }

    private void receive(long slot) {
        conn.recv(region, offset(slot), CpMessage.LENGTH, slot);
    }

    /**
     * Requests a copy, and waits until the receiver is ready.
     *
     * @return {@link CpMessage.Kind#READY} with the position, or {@link CpMessage.Kind#COMPLETE}
     * @throws CpSender.FailedException if the receiver can't make the copy
     * @throws LostException if the receiver is lost, or another copy of the same file is under way
     */
    CpMessage.Answer request(CpMessage.Request request, long timeout) throws IOException, InterruptedException {
        ByteBuffer message = memory.buffer(BLOCKS, CpMessage.LENGTH);
        request.put(message);
        send(message.position());
        CpMessage.Answer answer;
        do {
            answer = next(timeout);
        } while (answer == null || answer.kind() == CpMessage.Kind.WORKING);
        boolean ready = answer.kind() == CpMessage.Kind.READY && answer.position() <= request.size();
        if (!ready && answer.kind() != CpMessage.Kind.COMPLETE) {
            throw unexpected();
        }
        return answer;
    }

    private void send(int length) {
        conn.send(region, BLOCKS, length, RpmaConn.F_COMPLETION_ALWAYS, 0);
        sent();
    }

    private void sent() {
        sends++;
        lastSend = System.nanoTime();
    }

    /** Gets the progress of a copy. */
    interface Progress {
        /** The bytes before the position are under way. */
        void posted(long position);

        /** The receiver has written the bytes before the position. */
        void written(long position);
    }

    /** Sends the bytes from a position, and waits until the copy is complete. */
    void send(SourceFile file, long begin, long timeout, Progress progress) throws IOException, InterruptedException {
        file.seek(begin);
        long position = begin;
        while (!complete) {
            while (position < file.size() && posted - done < CpMessage.SLOTS && sends < SENDS) {
                int length = (int) Math.min(CpMessage.BLOCK, file.size() - position);
                long offset = posted % CpMessage.SLOTS * CpMessage.BLOCK;
                read(file, offset, length, progress);
                if (position + length == file.size()) {
                    file.checkUnchanged();
                }
                boolean taken = conn.writeWithImm(
                        remote, offset, region, offset, length, RpmaConn.F_COMPLETION_ALWAYS, (int) posted, 0);
                if (!taken) {
                    throw new IllegalStateException("the send queue is full, although it has room");
                }
                sent();
                position += length;
                posted++;
                progress.posted(position);
            }
            take(next(timeout), progress);
        }
    }

    /** Reads a block. If that takes long, the receiver gets signs that this side lives. */
    private void read(SourceFile file, long offset, int length, Progress progress) throws IOException {
        for (int there = 0; there < length; there += PART) {
            file.fill(memory.buffer(offset + there, Math.min(PART, length - there)));
            if (System.nanoTime() - lastSend >= silence) {
                // the completions of sends make room for the sign
                while (conn.getCq().poll(completions) > 0) {
                    take(completed(), progress);
                }
                // the block needs the last place
                if (sends < SENDS - 1) {
                    send(CpMessage.SIGN);
                }
            }
        }
    }

    private void take(CpMessage.Answer answer, Progress progress) throws IOException {
        if (answer == null) {
            return;
        }
        switch (answer.kind()) {
            case WRITTEN -> {
                done++;
                progress.written(answer.position());
            }
            case DONE -> complete = true;
            default -> throw unexpected();
        }
    }

    private IOException unexpected() {
        return new CpSender.FailedException("the receiver has sent an unexpected answer");
    }

    /** Waits for the next completion. Returns its answer; null if it is the completion of a send. */
    private CpMessage.Answer next(long timeout) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        while (true) {
            if (conn.getCq().await(completions, CHECK_MS, MILLISECONDS) == 0) {
                if (conn.nextEvent(0, NANOSECONDS).isPresent()) {
                    throw new LostException(connector, "the receiver has ended the connection");
                }
                if (System.nanoTime() - begin > timeout) {
                    throw new LostException(connector, "no answer within " + NANOSECONDS.toSeconds(timeout) + " s");
                }
            } else {
                return completed();
            }
        }
    }

    /** Returns the answer of the taken completion; null if it is the completion of a send. */
    private CpMessage.Answer completed() throws IOException {
        if (!completions.isSuccess(0)) {
            throw new LostException(
                    connector,
                    "the connection is lost: " + completions.status(0).description());
        }
        if (completions.opcode(0) == RpmaWcOpcode.RECV) {
            return answer(completions.wrId(0), (int) completions.byteLen(0));
        }
        sends--;
        return null;
    }

    private CpMessage.Answer answer(long slot, int length) throws IOException {
        CpMessage.Answer answer;
        try {
            answer = CpMessage.Answer.get(memory.buffer(offset(slot), length));
        } catch (IllegalArgumentException e) {
            throw new CpSender.FailedException("the receiver has sent " + e.getMessage());
        }
        receive(slot);
        switch (answer.kind()) {
            case BUSY -> throw new LostException(connector, answer.text());
            case FAILED -> throw new CpSender.FailedException(answer.text());
            default -> {
                return answer;
            }
        }
    }

    @Override
    public void close() {
        remote.close();
        Connector.close(conn);
    }
}
