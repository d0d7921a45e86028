// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.examples.common.Errors;
import io.rpma.examples.common.Size;
import io.rpma.tools.common.Connector;
import io.rpma.tools.common.Listener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.Optional;

/** The receiving side of one connection, which receives one file. */
final class CpReceiver implements Listener.Session {
    /** Each block under way, and the request or a sign of the sender, take a receive. */
    private static final int RECEIVES = CpMessage.SLOTS + 1;

    /** Twice the answers of all blocks, the first and the last answer. */
    private static final int SENDS = 4 * CpMessage.SLOTS;

    /** The answers under way up to which the sender gets another {@link CpMessage.Kind#WORKING}, which need not arrive. */
    private static final int MOST_WORKING = SENDS / 2;

    private static final int COMPLETIONS = 16;
    private static final long CHECK_MS = 200;

    /** The time without a message or a block after which the sender counts as gone, so that its copy is free for another. */
    static final int SILENCE_S = 10;

    /** The time for the first message, in which the sender reads the file for its SHA-256. Nothing is locked meanwhile. */
    private static final int FIRST_SILENCE_S = 60;

    /** While the bytes that are there are read, the sender gets an answer after this time. */
    private static final long WORKING = SECONDS.toNanos(1);

    private final int number;
    private final CpDirectory directory;
    private final RpmaMemory blocks;
    private final RpmaMrLocal blockRegion;
    private final RpmaMemory messages;
    private final RpmaMrLocal messageRegion;
    private final RpmaConn conn;
    private final RpmaCompletions completions = RpmaCompletions.create(COMPLETIONS);

    /** The completions of answers before the first block. */
    private final RpmaCompletions early = RpmaCompletions.create(COMPLETIONS);

    private CpMessage.Request request;
    private CpFile file;
    private long received;
    private long sent;
    private long sendsDone;

    /** Whether the last answer is posted. */
    private boolean ended;

    /** Whether the connection has ended because nothing has come from the sender. */
    private boolean silent;

    /** Thrown if the sender is gone while the bytes that are there are read. */
    private static final class GoneException extends IOException {
        private static final long serialVersionUID = 1;
    }

    private CpReceiver(
            int number,
            CpDirectory directory,
            RpmaMemory blocks,
            RpmaMrLocal blockRegion,
            RpmaMemory messages,
            RpmaMrLocal messageRegion,
            RpmaConn conn) {
        this.number = number;
        this.directory = directory;
        this.blocks = blocks;
        this.blockRegion = blockRegion;
        this.messages = messages;
        this.messageRegion = messageRegion;
        this.conn = conn;
    }

    /** Returns the configuration of the connections. The caller closes it. */
    static RpmaConnCfg connCfg() {
        return RpmaConnCfg.create().setSqSize(SENDS).setRqSize(RECEIVES).setCqSize(SENDS + RECEIVES);
    }

    /** Accepts a sender. */
    static CpReceiver accept(int number, RpmaPeer peer, RpmaConnReq request, CpDirectory directory) {
        RpmaMemory blocks = RpmaMemory.allocate((long) CpMessage.SLOTS * CpMessage.BLOCK);
        RpmaMemory messages = null;
        RpmaMrLocal blockRegion = null;
        RpmaMrLocal messageRegion = null;
        RpmaConn conn = null;
        try {
            messages = RpmaMemory.allocate((long) (1 + SENDS) * CpMessage.LENGTH);
            blockRegion = peer.register(blocks, RpmaMrUsage.WRITE_DST);
            messageRegion = peer.register(messages, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
            for (int i = 0; i < RECEIVES; i++) {
                request.recv(messageRegion, 0, CpMessage.LENGTH, 0);
            }
            conn = request.connect(acceptance(blockRegion));
            return new CpReceiver(number, directory, blocks, blockRegion, messages, messageRegion, conn);
        } finally {
            if (conn == null) {
                close(null, blockRegion, messageRegion, blocks, messages);
            }
        }
    }

    private static byte[] acceptance(RpmaMrLocal region) {
        return ByteBuffer.allocate(Integer.BYTES + RpmaMrLocal.DESCRIPTOR_SIZE)
                .putInt(CpMessage.SERVICE)
                .put(region.getDescriptor())
                .array();
    }

    @Override
    public void serve() throws InterruptedException {
        try {
            Optional<RpmaConnEvent> event = conn.nextEvent(FIRST_SILENCE_S, SECONDS);
            if (event.filter(RpmaConnEvent.ESTABLISHED::equals).isPresent()) {
                receive();
            }
        } catch (IllegalArgumentException e) {
            Listener.say("%d: the sender has sent %s", number, Errors.line(e));
        } catch (GoneException e) {
            Listener.say("%d: %s: the sender is gone", number, CpMessage.printable(request.path()));
        } finally {
            if (file != null) {
                finish();
            }
        }
    }

    private void finish() {
        try {
            file.close();
        } catch (IOException e) {
            Listener.say("%d: %s", number, Errors.line(e));
        }
        if (!ended) {
            Listener.say(
                    "%d: %s: the sender is %s after %s of %s; the next copy of the same file continues there",
                    number,
                    CpMessage.printable(request.path()),
                    silent ? "silent for " + SILENCE_S + " s" : "gone",
                    Size.format(file.position()),
                    Size.format(request.size()));
        }
    }

    /** Receives until the sender is gone. The sender closes the connection after the last answer. */
    private void receive() throws GoneException, InterruptedException {
        long last = System.nanoTime();
        while (true) {
            int taken = conn.getCq().await(completions, CHECK_MS, MILLISECONDS);
            for (int i = 0; i < taken; i++) {
                if (!completions.isSuccess(i)) {
                    return;
                }
                handle(i);
            }
            long now = System.nanoTime();
            last = taken > 0 ? now : last;
            if (taken == 0) {
                if (conn.nextEvent(0, NANOSECONDS).isPresent()) {
                    return;
                }
                silent = now - last > SECONDS.toNanos(request == null ? FIRST_SILENCE_S : SILENCE_S);
                if (silent) {
                    return;
                }
            }
        }
    }

    private void handle(int i) throws GoneException, InterruptedException {
        if (completions.opcode(i) == RpmaWcOpcode.SEND) {
            sendsDone++;
            return;
        }
        if (ended) {
            return; // blocks that were under way at a failure
        }
        try {
            if (completions.opcode(i) == RpmaWcOpcode.RECV && request == null) {
                CpMessage.Request wanted = CpMessage.Request.get(messages.buffer(0, (int) completions.byteLen(i)));
                conn.recv(messageRegion, 0, CpMessage.LENGTH, 0);
                begin(wanted);
            } else if (completions.opcode(i) == RpmaWcOpcode.RECV && completions.byteLen(i) == CpMessage.SIGN) {
                conn.recv(messageRegion, 0, CpMessage.LENGTH, 0);
            } else if (completions.opcode(i) == RpmaWcOpcode.RECV_RDMA_WITH_IMM && file != null) {
                write(completions.immData(i), completions.byteLen(i));
            } else {
                throw new IllegalArgumentException("an unexpected message");
            }
        } catch (CpFile.BusyException e) {
            end(CpMessage.Kind.BUSY, Errors.line(e));
        } catch (ClosedByInterruptException e) {
            throw new InterruptedException();
        } catch (GoneException e) {
            throw e;
        } catch (IOException e) {
            end(CpMessage.Kind.FAILED, Errors.reason(e));
        }
    }

    private void begin(CpMessage.Request wanted) throws IOException {
        request = wanted;
        Path target = directory.resolve(request.path());
        CpFile.Progress working = working();
        if (CpFile.isComplete(target, request.size(), request.digest(), working)) {
            end(CpMessage.Kind.COMPLETE, "");
            return;
        }
        file = CpFile.open(target, request.size(), request.digest(), working);
        Listener.say(
                "%d: %s, %s%s",
                number,
                request.path(),
                Size.format(request.size()),
                file.position() == 0 ? "" : ", continues at " + Size.format(file.position()));
        answer(CpMessage.Kind.READY, "");
        completeIfFull();
    }

    /** Returns the progress of a read, during which the sender gets answers, and its end is noticed. */
    private CpFile.Progress working() {
        long[] last = {System.nanoTime()};
        return position -> {
            long now = System.nanoTime();
            if (now - last[0] >= WORKING) {
                last[0] = now;
                checkSender();
                if (sent - sendsDone < MOST_WORKING) {
                    answer(CpMessage.Kind.WORKING, "");
                }
            }
        };
    }

    /** Takes the completions before the first block: they are of answers, unless the sender breaks the protocol. */
    private void checkSender() throws IOException {
        for (int taken = conn.getCq().poll(early);
                taken > 0;
                taken = conn.getCq().poll(early)) {
            for (int i = 0; i < taken; i++) {
                if (!early.isSuccess(i)) {
                    throw new GoneException();
                }
                if (early.opcode(i) != RpmaWcOpcode.SEND) {
                    throw new IllegalArgumentException("an unexpected message");
                }
                sendsDone++;
            }
        }
        try {
            if (conn.nextEvent(0, NANOSECONDS).isPresent()) {
                throw new GoneException();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClosedByInterruptException();
        }
    }

    private void write(int block, long length) throws IOException {
        if (block != (int) received || length != file.next()) {
            throw new IllegalArgumentException("block " + block + " of " + length + " bytes");
        }
        int slot = (int) (received % CpMessage.SLOTS);
        file.write(blocks.buffer((long) slot * CpMessage.BLOCK, (int) length));
        received++;
        conn.recv(messageRegion, 0, CpMessage.LENGTH, 0);
        answer(CpMessage.Kind.WRITTEN, "");
        completeIfFull();
    }

    private void completeIfFull() throws IOException {
        if (file.isFull()) {
            file.complete();
            end(CpMessage.Kind.DONE, "");
        }
    }

    private void end(CpMessage.Kind kind, String text) {
        ended = true;
        Listener.say("%d: %s: %s", number, CpMessage.printable(request.path()), text.isEmpty() ? "complete" : text);
        answer(kind, text);
    }

    /** Sends an answer. The next answer that takes the same memory follows after the completion of this one. */
    private void answer(CpMessage.Kind kind, String text) {
        if (sent - sendsDone >= SENDS) {
            throw new IllegalArgumentException("blocks without a wait for the answers");
        }
        long offset = (1 + sent % SENDS) * CpMessage.LENGTH;
        ByteBuffer message = messages.buffer(offset, CpMessage.LENGTH);
        long position = file == null ? 0 : file.position();
        new CpMessage.Answer(kind, position, text).put(message);
        conn.send(messageRegion, offset, message.position(), RpmaConn.F_COMPLETION_ALWAYS, 0);
        sent++;
    }

    @Override
    public void close() {
        close(conn, blockRegion, messageRegion, blocks, messages);
    }

    private static void close(
            RpmaConn conn, RpmaMrLocal blockRegion, RpmaMrLocal messageRegion, RpmaMemory blocks, RpmaMemory messages) {
        if (conn != null) {
            Connector.close(conn);
        }
        // closes the memory last, and also if the close of a region fails
        try (blocks;
                messages;
                blockRegion;
                messageRegion) {
            // all are closed in any case
        }
    }
}
