// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A side of a connection.
 *
 * <p>A request takes a slot until it is answered, and each side has a receive for each slot, so a message never waits
 * for a receive. The receive of a message is posted again when the message is handled. A slot also has a buffer to send
 * from, which is free when the other side has answered: then it has received what was sent.
 *
 * <p>Messages are handled in the order of their arrival; later ones wait for a large one that is being read.
 *
 * <p>Any thread sends and ends. The thread of the channels does all else, so that the end has no race with it.
 */
abstract class Link {
    static final Message NOTHING = Message.of(new byte[0]);

    private static final int BATCH = 32;
    private static final int MOST_READS = 4;

    /** A device can limit the bytes of one operation, soft-RoCE to 8 MiB. */
    private static final int READ_SIZE = 1 << 20;

    /** The receives for the message that is being handled, and for the end of the answers. */
    private static final int MORE_RECEIVES = 2;

    /** A message that has arrived. */
    private static final class Arrival {
        private final Frame frame;
        private final int index;
        private final RpmaMrRemote remote;
        private Block block;
        private int asked;
        private int missing;

        /** Null until the message is read. */
        private ByteBuffer bytes;

        Arrival(Frame frame, int index, ByteBuffer bytes, RpmaMrRemote remote) {
            this.frame = frame;
            this.index = index;
            this.bytes = bytes;
            this.remote = remote;
            missing = frame.length();
        }
    }

    private final Channels channels;
    private final RpmaConn conn;
    private final Buffers buffers;
    private final int receives;
    private final Hello limits;
    private final String name;
    private final Blocks outgoing;
    private final Blocks incoming;

    // of the thread of the channels
    private final List<RpmaEventLoop.Registration> registrations = new ArrayList<>();
    private final Deque<Arrival> arrivals = new ArrayDeque<>();
    private final Deque<Arrival> reads = new ArrayDeque<>();

    /** Whether an operation has failed, after which no other one can be posted. */
    private boolean broken;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Block[] offered;
    private long sent;
    private LostException end;

    /** Makes a side, which frees the connection and its buffers when it has ended. */
    Link(Channels channels, RpmaConn conn, Buffers buffers, Hello limits, String name) {
        this.channels = channels;
        this.conn = conn;
        this.buffers = buffers;
        this.limits = limits;
        this.name = name;
        receives = receives(channels.options());
        outgoing = new Blocks(channels.peer(), RpmaMrUsage.READ_SRC);
        incoming = new Blocks(channels.peer(), RpmaMrUsage.READ_DST);
        offered = new Block[receives];
    }

    /** Returns the configuration of the connections. The caller closes it. */
    static RpmaConnCfg cfg(ChannelOptions options) {
        int receives = receives(options);
        // Completions of sends can be as late as the next round trip. The loop probes the other side with a read.
        int sends = 2 * receives + MOST_READS + 1;
        return RpmaConnCfg.create()
                .setTimeout((int) Math.min(Integer.MAX_VALUE, NANOSECONDS.toMillis(options.connectNanos()) + 1))
                .setSqSize(sends)
                .setRqSize(receives)
                .setCqSize(sends + receives);
    }

    /** Makes the buffers of a connection. */
    static Buffers buffers(Channels channels) {
        ChannelOptions options = channels.options();
        return new Buffers(
                channels.peer(), 2 * receives(options), options.hello().bufferSize());
    }

    private static int receives(ChannelOptions options) {
        return options.hello().requests() + MORE_RECEIVES;
    }

    /** Posts the receives of a connection. */
    static void post(RpmaConnReq request, ChannelOptions options, Buffers buffers) {
        for (int i = 0; i < receives(options); i++) {
            if (!request.recv(buffers.region(), buffers.offset(i), buffers.size(), i)) {
                throw new IllegalStateException("no room for a receive");
            }
        }
    }

    /**
     * Handles a message.
     *
     * @param message is valid until this method returns
     * @throws ChannelException if the other side violates the protocol; ends the connection
     */
    abstract void received(Frame frame, ByteBuffer message) throws ChannelException;

    /** Handles the end of the connection. */
    abstract void lost(LostException reason);

    /** Begins to receive. */
    final void start() {
        channels.add(conn, this);
        channels.loop().execute(this::register);
    }

    private void register() {
        if (!isOpen()) {
            return;
        }
        RpmaEventLoop loop = channels.loop();
        long period = Math.max(1, NANOSECONDS.toMillis(channels.options().silenceNanos()) / 3);
        try {
            registrations.add(loop.onEvent(conn, this::handle));
            registrations.add(loop.onCompletion(conn.getCq(), BATCH, this::handle));
            registrations.add(
                    loop.onPeerLost(conn, period, period, MILLISECONDS, c -> end("the host does not answer", null)));
        } catch (RpmaException | IllegalStateException e) {
            end(e.getMessage(), e);
        }
    }

    final Channels channels() {
        return channels;
    }

    final Hello limits() {
        return limits;
    }

    private boolean isOpen() {
        lock.lock();
        try {
            return end == null;
        } finally {
            lock.unlock();
        }
    }

    final void checkOpen() throws LostException {
        lock.lock();
        try {
            if (end != null) {
                throw new LostException(end.getMessage(), end);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sends a message, whose bytes are copied before this method returns. Returns whether the other side reads them;
     * {@link #release} then frees them.
     *
     * @throws LostException if the connection has ended
     */
    final boolean send(Frame.Kind kind, int slot, Message message) throws LostException {
        lock.lock();
        try {
            checkOpen();
            int length = message.length();
            boolean isLarge = length > limits.bufferSize() - Frame.SIZE;
            int index = receives + slot;
            ByteBuffer buffer = buffers.get(index);
            new Frame(kind, isLarge, slot, length).writeTo(buffer);
            if (isLarge) {
                buffer.put(offer(slot, message, length));
            } else {
                write(message, buffer.limit(Frame.SIZE + length));
            }
            // A completion frees the places of all earlier sends in the queue.
            int every = Math.max(1, limits.requests() / 2);
            int flags = ++sent % every == 0 ? RpmaConn.F_COMPLETION_ALWAYS : RpmaConn.F_COMPLETION_ON_ERROR;
            if (!conn.send(buffers.region(), buffers.offset(index), buffer.position(), flags, slot)) {
                throw lost("the send queue is full", null);
            }
            return isLarge;
        } catch (LostException e) {
            end(e);
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** Copies a message into a block, and returns the descriptor of the block. */
    private byte[] offer(int slot, Message message, int length) {
        Block block = outgoing.take(length);
        boolean written = false;
        try {
            write(message, block.bytes(0, length));
            written = true;
        } finally {
            if (!written) {
                outgoing.giveBack(block);
            }
        }
        offered[slot] = block;
        return block.region().getDescriptor();
    }

    private static void write(Message message, ByteBuffer target) {
        message.writeTo(target);
        if (target.hasRemaining()) {
            throw new IllegalStateException("the message has " + target.remaining() + " bytes less than its length");
        }
    }

    /** Frees the message of a slot that the other side has read; returns false if there is none. */
    final boolean release(int slot) {
        Block block;
        lock.lock();
        try {
            block = offered[slot];
            offered[slot] = null;
        } finally {
            lock.unlock();
        }
        if (block != null) {
            outgoing.giveBack(block);
        }
        return block != null;
    }

    private void handle(RpmaConnEvent event) {
        if (event == RpmaConnEvent.ESTABLISHED) {
            return;
        }
        // The event can overtake messages that arrived before it.
        RpmaCompletions completions = RpmaCompletions.create(BATCH);
        while (isOpen() && conn.getCq().poll(completions) > 0) {
            handle(conn.getCq(), completions);
        }
        end(event.description(), null);
    }

    private void handle(RpmaCq cq, RpmaCompletions completions) {
        try {
            int good = 0;
            while (good < completions.count() && completions.isSuccess(good)) {
                handle(completions, good);
                good++;
            }
            broken = good < completions.count();
            deliver();
            if (broken) {
                end(completions.status(good).description(), null);
            }
        } catch (LostException e) {
            end(e);
        } catch (ChannelException | RpmaException | IllegalStateException e) {
            if (end(lost(e.getMessage(), e))) {
                channels.log(name + ": " + e.getMessage());
            }
        }
    }

    private void handle(RpmaCompletions completions, int index) throws ChannelException {
        switch (completions.opcode(index)) {
            case RECV -> arrived((int) completions.wrId(index), (int) completions.byteLen(index));
            case RDMA_READ -> read(reads.remove(), (int) completions.wrId(index));
            default -> {
                // a send, whose place in the queue is free now
            }
        }
    }

    private void arrived(int index, int size) throws ChannelException {
        ByteBuffer bytes = buffers.get(index).limit(size);
        Frame frame = Frame.readFrom(bytes);
        if (frame.length() > limits.messageSize()) {
            throw new ChannelException("a message of " + frame.length() + " bytes");
        }
        if (frame.offered()) {
            arrivals.add(new Arrival(frame, index, null, remote(frame, bytes)));
        } else if (bytes.remaining() != frame.length()) {
            throw new ChannelException("a message with another length than in its header");
        } else if (frame.kind() == Frame.Kind.READ) {
            received(frame, bytes); // others can wait for the memory that it frees
            receive(index);
        } else {
            arrivals.add(new Arrival(frame, index, bytes, null));
        }
    }

    private static RpmaMrRemote remote(Frame frame, ByteBuffer descriptor) throws ChannelException {
        RpmaMrRemote remote;
        try {
            remote = RpmaMrRemote.fromDescriptor(descriptor);
        } catch (RpmaException | IllegalArgumentException e) {
            throw new ChannelException("an impossible region: " + e.getMessage(), e);
        }
        if (frame.length() == 0
                || remote.getSize() < frame.length()
                || !remote.usages().contains(RpmaMrUsage.READ_SRC)) {
            remote.close();
            throw new ChannelException("a region that does not have the message");
        }
        return remote;
    }

    private void receive(int index) throws LostException {
        if (!broken && !conn.recv(buffers.region(), buffers.offset(index), buffers.size(), index)) {
            throw lost("the receive queue is full", null);
        }
    }

    /**
     * Hands over the messages that are there, up to one that must be read first, and reads what there is room for. A
     * side that does not read what it is offered gets no more of it, although it may ask.
     */
    private void deliver() throws ChannelException {
        startReads();
        while (!arrivals.isEmpty() && arrivals.element().bytes != null && outgoing.used() <= limits.requestBytes()) {
            Arrival arrival = arrivals.remove();
            try {
                received(arrival.frame, arrival.bytes);
            } finally {
                release(arrival);
            }
            receive(arrival.index);
            startReads();
        }
    }

    private void release(Arrival arrival) {
        if (arrival.block != null) {
            incoming.giveBack(arrival.block);
        }
    }

    private void startReads() throws LostException {
        for (Arrival arrival : arrivals) {
            int length = arrival.frame.length();
            while (!broken && arrival.remote != null && arrival.asked < length) {
                if (reads.size() == MOST_READS || !hasBlock(arrival)) {
                    return;
                }
                int size = Math.min(READ_SIZE, length - arrival.asked);
                int flags = RpmaConn.F_COMPLETION_ALWAYS;
                if (!conn.read(
                        arrival.block.region(), arrival.asked, arrival.remote, arrival.asked, size, flags, size)) {
                    throw lost("the send queue is full", null);
                }
                arrival.asked += size;
                reads.add(arrival);
            }
        }
    }

    private boolean hasBlock(Arrival arrival) {
        int length = arrival.frame.length();
        long used = incoming.used();
        if (arrival.block == null && (used == 0 || used + length <= limits.requestBytes())) {
            arrival.block = incoming.take(length);
        }
        return arrival.block != null;
    }

    private static void read(Arrival arrival, int size) {
        arrival.missing -= size;
        if (arrival.missing == 0) {
            arrival.bytes = arrival.block.bytes(0, arrival.frame.length());
            arrival.remote.close();
        }
    }

    private LostException lost(String reason, Throwable cause) {
        return new LostException(name + ": " + reason, cause);
    }

    /** Ends the connection, from any thread. */
    final void end(String reason, Throwable cause) {
        end(lost(reason, cause));
    }

    /** Ends the connection, and returns whether it was open. */
    private boolean end(LostException reason) {
        lock.lock();
        try {
            if (end != null) {
                return false;
            }
            end = reason;
        } finally {
            lock.unlock();
        }
        channels.loop().execute(() -> tearDown(reason));
        return true;
    }

    private void tearDown(LostException reason) {
        registrations.forEach(RpmaEventLoop.Registration::cancel);
        channels.execute(this::free);
        lost(reason);
    }

    /** In another thread: the close takes seconds if the other host is dead. */
    private void free() {
        channels.close(conn);
        for (Arrival arrival : arrivals) {
            release(arrival);
            if (arrival.remote != null) {
                channels.close(arrival.remote);
            }
        }
        for (int slot = 0; slot < offered.length; slot++) {
            release(slot);
        }
        channels.close(outgoing);
        channels.close(incoming);
        channels.giveBack(buffers);
        channels.remove(conn);
    }

    @Override
    public final String toString() {
        return name;
    }
}
