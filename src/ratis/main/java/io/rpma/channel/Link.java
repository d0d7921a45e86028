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
 * <p>Any thread sends and ends. The thread of the channels does all else, so that the end has no race with it; it never
 * waits for another thread that copies or registers a large message.
 */
abstract class Link {
    static final Message NOTHING = Message.of(new byte[0]);

    private static final int BATCH = 32;
    private static final int MOST_READS = 4;

    /** A device can limit the bytes of one operation, soft-RoCE to 8 MiB. */
    private static final int READ_SIZE = 1 << 20;

    /** The receives for the message that is being handled, and for the end of the answers. */
    private static final int MORE_RECEIVES = 2;

    /** A message that has arrived, or its offer. */
    private static final class Arrival {
        private final Frame frame;
        private final int index;

        /** The bytes of a small message. */
        private final ByteBuffer bytes;

        /** The place of a large message. */
        private final RpmaMrRemote remote;

        private boolean prepared;
        private Block block;
        private int asked;
        private int missing;

        Arrival(Frame frame, int index, ByteBuffer bytes, RpmaMrRemote remote) {
            this.frame = frame;
            this.index = index;
            this.bytes = bytes;
            this.remote = remote;
            missing = remote == null ? 0 : frame.length();
        }

        ByteBuffer message() {
            return remote == null ? bytes : block.bytes(0, frame.length());
        }
    }

    final Channels channels;
    final Hello limits;

    private final RpmaConn conn;
    private final Block buffers;
    private final int bufferSize;
    private final int receives;
    private final String name;
    private final Blocks outgoing;
    private final Blocks incoming;

    // of the thread of the channels
    private final List<RpmaEventLoop.Registration> registrations = new ArrayList<>();
    private final Deque<Arrival> arrivals = new ArrayDeque<>();

    /** The reason why nothing more can be posted; messages that are here are still handled. */
    private String failure;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Block[] offered;
    private long sent;

    /** Set with the lock. */
    private volatile LostException end;

    /** Makes a side, which frees the connection and its buffers when it has ended. */
    Link(Channels channels, RpmaConn conn, Block buffers, Hello limits, String name) {
        this.channels = channels;
        this.conn = conn;
        this.buffers = buffers;
        this.limits = limits;
        this.name = name;
        bufferSize = channels.options().hello().bufferSize();
        receives = receives(channels.options());
        outgoing = new Blocks(channels, RpmaMrUsage.READ_SRC);
        incoming = new Blocks(channels, RpmaMrUsage.READ_DST);
        offered = new Block[receives];
    }

    /** Returns the configuration of the connections. The caller closes it. */
    static RpmaConnCfg cfg(ChannelOptions options) {
        int receives = receives(options);
        // A slot can be used again before the completions of its last sends are here. The loop probes with a read.
        int sends = 3 * receives + MOST_READS + 1;
        return RpmaConnCfg.create()
                .setTimeout((int) Math.min(Integer.MAX_VALUE, NANOSECONDS.toMillis(options.connectNanos()) + 1))
                .setSqSize(sends)
                .setRqSize(receives)
                .setCqSize(sends + receives);
    }

    /** Makes the buffers of a connection: those to receive in, and those to send from. */
    static Block buffers(Channels channels) {
        int size = 2 * receives(channels.options()) * channels.options().hello().bufferSize();
        return channels.register(size, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
    }

    private static int receives(ChannelOptions options) {
        return options.hello().requests() + MORE_RECEIVES;
    }

    /** Posts the receives of a connection. */
    static void post(RpmaConnReq request, ChannelOptions options, Block buffers) {
        int size = options.hello().bufferSize();
        for (int i = 0; i < receives(options); i++) {
            if (!request.recv(buffers.region(), (long) i * size, size, i)) {
                throw new IllegalStateException("no room for a receive");
            }
        }
    }

    /**
     * Handles the header of a message, as soon as it arrives.
     *
     * @throws ChannelException if the other side violates the protocol; ends the connection
     */
    abstract void arrived(Frame frame) throws ChannelException;

    /**
     * Handles a message.
     *
     * @param message is valid until this method returns
     * @throws ChannelException if the other side violates the protocol; ends the connection
     */
    abstract void received(Frame frame, ByteBuffer message) throws ChannelException;

    /** Returns whether messages are handled now. */
    abstract boolean takesMore();

    /** Handles the end of the connection. */
    abstract void lost(LostException reason);

    /** Handles that the connection is closed. */
    void freed() {
        // nothing, unless a side needs it
    }

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
        } catch (RpmaException | IllegalStateException | OutOfMemoryError e) {
            end(e.getMessage(), e);
        }
    }

    final boolean isOpen() {
        return end == null;
    }

    final void checkOpen() throws LostException {
        LostException reason = end;
        if (reason != null) {
            throw new LostException(reason.getMessage(), reason);
        }
    }

    final boolean isLarge(Message message) {
        return message.length() > limits.bufferSize() - Frame.SIZE;
    }

    /** Returns the number of bytes that the other side may read. */
    final long offeredBytes() {
        return outgoing.used();
    }

    /**
     * Sends a message, whose bytes are copied before this method returns. The other side reads those of a large one;
     * {@link #release} then frees them.
     *
     * @throws LostException if the connection has ended
     */
    final void send(Frame.Kind kind, int slot, Message message) throws LostException {
        Frame frame = new Frame(kind, isLarge(message), slot, message.length());
        if (!frame.offered()) {
            post(frame, message, null);
            return;
        }
        Block block = outgoing.take(frame.length());
        boolean posted = false;
        try {
            write(message, block.bytes(0, frame.length()));
            post(frame, Message.of(block.region().getDescriptor()), block);
            posted = true;
        } finally {
            if (!posted) {
                outgoing.giveBack(block);
                resumeLater(); // messages can have waited for the memory
            }
        }
    }

    private void post(Frame frame, Message content, Block block) throws LostException {
        lock.lock();
        try {
            checkOpen();
            // Nothing is there, unless the other side has answered what it has not yet got.
            release(frame.slot());
            int offset = (receives + frame.slot()) * bufferSize;
            int length = Frame.SIZE + content.length();
            ByteBuffer buffer = buffers.bytes(offset, length);
            frame.writeTo(buffer);
            write(content, buffer);
            // A completion frees the places of all earlier sends in the queue.
            int every = Math.max(1, limits.requests() / 2);
            transmit(
                    offset,
                    length,
                    ++sent % every == 0 ? RpmaConn.F_COMPLETION_ALWAYS : RpmaConn.F_COMPLETION_ON_ERROR);
            offered[frame.slot()] = block;
        } finally {
            lock.unlock();
        }
    }

    private void transmit(int offset, int length, int flags) throws LostException {
        LostException reason;
        try {
            if (conn.send(buffers.region(), offset, length, flags, offset)) {
                return;
            }
            reason = lost("the send queue is full", null);
        } catch (RpmaException e) {
            reason = lost(e.getMessage(), e);
        }
        end(reason);
        throw reason;
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
        // The event can overtake messages that arrived before it. Their number is limited, as no receive is posted now.
        failure = event.description();
        RpmaCompletions completions = RpmaCompletions.create(BATCH);
        while (isOpen() && conn.getCq().poll(completions) > 0) {
            take(completions);
        }
        end(failure, null);
    }

    private void handle(RpmaCq cq, RpmaCompletions completions) {
        take(completions);
        if (failure != null) {
            end(failure, null);
        }
    }

    private void take(RpmaCompletions completions) {
        try {
            int good = 0;
            while (good < completions.count() && completions.isSuccess(good)) {
                take(completions, good);
                good++;
            }
            if (failure == null && good < completions.count()) {
                failure = completions.status(good).description();
            }
            deliver();
        } catch (LostException e) {
            end(e);
        } catch (ChannelException | RpmaException | IllegalStateException e) {
            if (end(lost(e.getMessage(), e))) {
                channels.log(name + ": " + e.getMessage());
            }
        }
    }

    private void take(RpmaCompletions completions, int index) throws ChannelException {
        switch (completions.opcode(index)) {
            case RECV -> arrived((int) completions.wrId(index), (int) completions.byteLen(index));
            case RDMA_READ -> arrivals.element().missing -= (int) completions.wrId(index);
            default -> {
                // a send, whose place in the queue is free now
            }
        }
    }

    private void arrived(int index, int size) throws ChannelException {
        ByteBuffer bytes = buffers.bytes(index * bufferSize, size);
        Frame frame = Frame.readFrom(bytes);
        if (frame.length() > limits.messageSize()) {
            throw new ChannelException("a message of " + frame.length() + " bytes");
        }
        if (!frame.offered() && bytes.remaining() != frame.length()) {
            throw new ChannelException("a message with another length than in its header");
        }
        arrived(frame);
        if (frame.kind() == Frame.Kind.READ) {
            receive(index);
        } else {
            arrivals.add(new Arrival(frame, index, bytes, frame.offered() ? remote(frame, bytes) : null));
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

    private void receive(int index) {
        if (failure != null) {
            return;
        }
        try {
            if (!conn.recv(buffers.region(), (long) index * bufferSize, bufferSize, index)) {
                failure = "the receive queue is full";
            }
        } catch (RpmaException e) {
            failure = e.getMessage();
        }
    }

    /** Hands over the messages that are there, up to one that must be read first. */
    private void deliver() throws ChannelException {
        while (!arrivals.isEmpty() && takesMore() && isHere(arrivals.element())) {
            Arrival arrival = arrivals.remove();
            try {
                received(arrival.frame, arrival.message());
            } finally {
                release(arrival);
            }
            receive(arrival.index);
        }
    }

    private void release(Arrival arrival) {
        if (arrival.block != null) {
            incoming.giveBack(arrival.block);
        }
        if (arrival.remote != null) {
            channels.close(arrival.remote);
        }
    }

    /** Returns whether a message is here, and reads more of it if it is not. */
    private boolean isHere(Arrival arrival) throws LostException {
        if (arrival.missing > 0 && !arrival.prepared) {
            arrival.prepared = true;
            arrival.block = incoming.poll(arrival.frame.length());
            if (arrival.block == null) {
                channels.execute(() -> prepare(arrival));
            }
        }
        int length = arrival.frame.length();
        int underWay = arrival.asked - (length - arrival.missing);
        while (failure == null
                && arrival.block != null
                && arrival.asked < length
                && underWay < MOST_READS * READ_SIZE) {
            int size = Math.min(READ_SIZE, length - arrival.asked);
            if (!conn.read(
                    arrival.block.region(),
                    arrival.asked,
                    arrival.remote,
                    arrival.asked,
                    size,
                    RpmaConn.F_COMPLETION_ALWAYS,
                    size)) {
                throw lost("the send queue is full", null);
            }
            arrival.asked += size;
            underWay += size;
        }
        return arrival.missing == 0;
    }

    /** Registers memory for a message, in another thread. */
    private void prepare(Arrival arrival) {
        try {
            Block block = incoming.take(arrival.frame.length());
            channels.loop().execute(() -> {
                if (isOpen()) {
                    arrival.block = block;
                    resume();
                } else {
                    incoming.giveBack(block);
                }
            });
        } catch (RpmaException | OutOfMemoryError e) {
            end(e.getMessage(), e);
        }
    }

    private void resumeLater() {
        if (isOpen()) {
            channels.loop().execute(this::resume);
        }
    }

    /** Goes on with the messages that wait. */
    private void resume() {
        if (isOpen()) {
            take(RpmaCompletions.create(1));
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
            channels.loop().execute(() -> tearDown(reason));
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void tearDown(LostException reason) {
        registrations.forEach(RpmaEventLoop.Registration::cancel);
        try {
            lost(reason);
        } finally {
            channels.execute(this::free);
        }
    }

    /** In another thread: the close takes seconds if the other host is dead. */
    private void free() {
        channels.close(conn);
        arrivals.forEach(this::release);
        for (int slot = 0; slot < offered.length; slot++) {
            release(slot);
        }
        channels.close(outgoing);
        channels.close(incoming);
        channels.giveBack(buffers);
        channels.remove(conn);
        freed();
    }

    @Override
    public final String toString() {
        return name;
    }
}
