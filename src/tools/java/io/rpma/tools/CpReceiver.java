// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.Optional;

/** The receiving side of one connection, which receives one file. */
final class CpReceiver implements Listener.Session {
    /** The request, and each block under way, take a receive. */
    private static final int RECEIVES = CpMessage.SLOTS + 1;

    /** The answers of all blocks, the last answer, and the answers while the bytes of an incomplete copy are read. */
    private static final int SENDS = CpMessage.SLOTS + 8;

    private static final int COMPLETIONS = 16;
    private static final long CHECK_MS = 200;

    /** The time without a message or a block after which the sender counts as gone. */
    private static final int SILENCE_S = 60;

    /** While an incomplete copy is read, the sender gets an answer after this many bytes. */
    private static final long WORKING = 256L << 20;

    private final int number;
    private final CpDirectory directory;
    private final RpmaMemory blocks;
    private final RpmaMrLocal blockRegion;
    private final RpmaMemory messages;
    private final RpmaMrLocal messageRegion;
    private final RpmaConn conn;
    private final RpmaCompletions completions = RpmaCompletions.create(COMPLETIONS);
    private CpMessage.Request request;
    private CpFile file;
    private long received;
    private long sent;
    private long sendsDone;

    /** Whether the last answer is posted. */
    private boolean ended;

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
            Optional<RpmaConnEvent> event = conn.nextEvent(SILENCE_S, SECONDS);
            if (event.filter(RpmaConnEvent.ESTABLISHED::equals).isPresent()) {
                receive();
            }
        } catch (IllegalArgumentException e) {
            Listener.say("%d: the sender has sent %s", number, Errors.line(e));
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
                    "%d: %s: the sender is gone after %s of %s; the next copy of the same file continues there",
                    number, request.path(), Size.format(file.position()), Size.format(request.size()));
        }
    }

    /** Receives until the sender is gone. The sender closes the connection after the last answer. */
    private void receive() throws InterruptedException {
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
            if (taken == 0 && (conn.nextEvent(0, NANOSECONDS).isPresent() || now - last > SECONDS.toNanos(SILENCE_S))) {
                return;
            }
        }
    }

    private void handle(int i) throws InterruptedException {
        if (completions.opcode(i) == RpmaWcOpcode.SEND) {
            sendsDone++;
            return;
        }
        if (ended) {
            return; // blocks that were under way at a failure
        }
        try {
            if (completions.opcode(i) == RpmaWcOpcode.RECV && request == null) {
                begin(CpMessage.Request.get(messages.buffer(0, (int) completions.byteLen(i))));
            } else if (completions.opcode(i) == RpmaWcOpcode.RECV_RDMA_WITH_IMM && file != null) {
                write(completions.immData(i), completions.byteLen(i));
            } else {
                throw new IllegalArgumentException("an unexpected message");
            }
        } catch (CpFile.BusyException e) {
            end(CpMessage.Kind.BUSY, Errors.line(e));
        } catch (ClosedByInterruptException e) {
            throw new InterruptedException();
        } catch (IOException e) {
            end(CpMessage.Kind.FAILED, Errors.reason(e));
        }
    }

    private void begin(CpMessage.Request wanted) throws IOException {
        request = wanted;
        Path target = directory.resolve(request.path());
        long[] told = {0};
        file = CpFile.open(target, request.size(), request.digest(), position -> {
            if (position - told[0] >= WORKING) {
                told[0] = position;
                answer(CpMessage.Kind.WORKING, "");
            }
        });
        Listener.say(
                "%d: %s, %s%s",
                number,
                request.path(),
                Size.format(request.size()),
                file.position() == 0 ? "" : ", continues at " + Size.format(file.position()));
        answer(CpMessage.Kind.READY, "");
        completeIfFull();
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
        Listener.say("%d: %s: %s", number, request.path(), kind == CpMessage.Kind.DONE ? "complete" : text);
        answer(kind, text);
    }

    /** Sends an answer. The next answer that takes the same memory follows after the completion of this one. */
    private void answer(CpMessage.Kind kind, String text) {
        if (sent - sendsDone >= SENDS) {
            return; // only WORKING can be so frequent, and need not arrive
        }
        long offset = (1 + sent % SENDS) * CpMessage.LENGTH;
        ByteBuffer message = messages.buffer(offset, CpMessage.LENGTH);
        new CpMessage.Answer(kind, file == null ? 0 : file.position(), text).put(message);
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
        for (RpmaMrLocal region : new RpmaMrLocal[] {blockRegion, messageRegion}) {
            if (region != null) {
                region.close();
            }
        }
        blocks.close();
        if (messages != null) {
            messages.close();
        }
    }
}
