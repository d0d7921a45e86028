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
import java.util.function.LongConsumer;

/** The sending side of a connection. */
final class CpConnection implements AutoCloseable {
    /** The answers of all blocks, and more: the receiver's device resends a message that finds no receive. */
    private static final int RECEIVES = CpMessage.SLOTS + 2;

    private static final int SENDS = 2 * CpMessage.SLOTS + 1;
    private static final long CHECK_MS = 200;
    private static final long BLOCKS = (long) CpMessage.SLOTS * CpMessage.BLOCK;

    /** The memory of a connection: the blocks, the request, and the answers. */
    static final long MEMORY = BLOCKS + (1 + RECEIVES) * (long) CpMessage.LENGTH;

    private final Connector connector;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final RpmaCompletions completions = RpmaCompletions.create(1);

    /** The sends and writes without a completion. They can outlast the answers of the receiver. */
    private int sends;

    private CpConnection(
            Connector connector, RpmaMemory memory, RpmaMrLocal region, RpmaConn conn, RpmaMrRemote remote) {
        this.connector = connector;
        this.memory = memory;
        this.region = region;
        this.conn = conn;
        this.remote = remote;
        for (int slot = 0; slot < RECEIVES; slot++) {
            receive(slot);
        }
    }

    /**
     * Makes one attempt to connect.
     *
     * @throws LostException if the receiver can't be reached, does not answer, or rejects the connection
     * @throws IOException if another program answers
     */
    static CpConnection open(RpmaPeer peer, Connector connector, RpmaMemory memory, RpmaMrLocal region, long nanos)
            throws IOException, InterruptedException {
        RpmaConn conn;
        try (RpmaConnCfg cfg =
                RpmaConnCfg.create().setSqSize(SENDS).setRqSize(RECEIVES).setCqSize(SENDS + RECEIVES)) {
            conn = connector.connect(peer, cfg, CpMessage.privateData(), nanos);
        }
        boolean open = false;
        try {
            CpConnection connection = new CpConnection(connector, memory, region, conn, remote(connector, conn));
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
     * @throws CpSender.FailedException if the receiver can't make the copy
     * @throws LostException if the receiver is lost, or another copy of the same file is under way
     */
    CpMessage.Answer request(CpMessage.Request request, long timeout) throws IOException, InterruptedException {
        ByteBuffer message = memory.buffer(BLOCKS, CpMessage.LENGTH);
        request.put(message);
        conn.send(region, BLOCKS, message.position(), RpmaConn.F_COMPLETION_ALWAYS, 0);
        sends++;
        CpMessage.Answer answer;
        do {
            answer = next(timeout);
        } while (answer == null || answer.kind() == CpMessage.Kind.WORKING);
        if (answer.kind() != CpMessage.Kind.READY || answer.position() > request.size()) {
            throw unexpected();
        }
        return answer;
    }

    /**
     * Sends the bytes from a position, and waits until the copy is complete.
     *
     * @param written gets the number of bytes that are written there
     */
    void send(SourceFile file, long begin, long timeout, LongConsumer written)
            throws IOException, InterruptedException {
        file.seek(begin);
        long position = begin;
        long posted = 0;
        long done = 0;
        while (true) {
            while (position < file.size() && posted - done < CpMessage.SLOTS && sends < SENDS) {
                int length = (int) Math.min(CpMessage.BLOCK, file.size() - position);
                long offset = posted % CpMessage.SLOTS * CpMessage.BLOCK;
                file.fill(memory.buffer(offset, length));
                if (position + length == file.size()) {
                    file.checkUnchanged();
                }
                boolean taken = conn.writeWithImm(
                        remote, offset, region, offset, length, RpmaConn.F_COMPLETION_ALWAYS, (int) posted, 0);
                if (!taken) {
                    throw new IllegalStateException("the send queue is full, although it has room");
                }
                sends++;
                position += length;
                posted++;
            }
            CpMessage.Answer answer = next(timeout);
            if (answer == null) {
                continue;
            }
            switch (answer.kind()) {
                case WRITTEN -> {
                    done++;
                    written.accept(answer.position());
                }
                case DONE -> {
                    return;
                }
                default -> throw unexpected();
            }
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
            } else if (!completions.isSuccess(0)) {
                throw new LostException(
                        connector,
                        "the connection is lost: " + completions.status(0).description());
            } else if (completions.opcode(0) == RpmaWcOpcode.RECV) {
                return answer(completions.wrId(0), (int) completions.byteLen(0));
            } else {
                sends--;
                return null;
            }
        }
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
