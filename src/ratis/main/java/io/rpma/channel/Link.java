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
import io.rpma.RpmaPeer;
import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection that sends and receives messages.
 *
 * <p>A message takes a receive of the other side, so a side sends only as long as it has credits. A receive is posted
 * again when its message is handled, and gives a credit back, in the header of the next message or in one of its own.
 * Messages are handled in the order of their arrival; later ones wait for a large one that is being read.
 *
 * <p>Any thread sends and ends. The thread of the channels does all else, so that the end has no race with it.
 */
final class Link {
    private static final int BATCH = 32;
    private static final int MOST_READS = 4;

    /** A device can limit the bytes of one operation, soft-RoCE to 8 MiB. */
    private static final int READ_SIZE = 1 << 20;

    /** The maximum number of offered blocks that the other side has not read. */
    private static final int MOST_OFFERS = 8;

    /**
     * The receives for headers without a message, which need no credit: each one reports half of the receives, or a
     * block that was read.
     */
    private static final int RETURNS = 2 + MOST_OFFERS;

    /** What a connection is for. */
    interface End {
        /**
         * Handles a message.
         *
         * @param message is valid until this method returns
         * @throws ChannelException if the other side violates the protocol; ends the connection
         */
        void received(Frame frame, ByteBuffer message) throws ChannelException;

        /** Returns whether a message can be handled before more of those that wait are sent. */
        boolean takes(int waitingMessages, long waitingBytes);

        /** Handles the end of the connection. */
        void lost(LostException reason);
    }

    /** The buffers of a connection, before it is made. */
    static final class Setup implements AutoCloseable {
        private final Channels channels;
        private final Hello own;
        private final Buffers receives;
        private final Buffers sends;
        private boolean used;

        Setup(Channels channels) {
            this.channels = channels;
            own = channels.options().hello();
            RpmaPeer peer = channels.peer();
            receives = new Buffers(peer, RpmaMrUsage.RECV, own.receives() + RETURNS, own.bufferSize());
            boolean made = false;
            try {
                sends = new Buffers(peer, RpmaMrUsage.SEND, own.receives(), own.bufferSize());
                made = true;
            } finally {
                if (!made) {
                    receives.close();
                }
            }
        }

        /** Returns the configuration of the connections. The caller closes it. */
        static RpmaConnCfg cfg(ChannelOptions options) {
            Hello own = options.hello();
            int sends = own.receives() + MOST_READS + 1; // also a probe of the loop
            int receives = own.receives() + RETURNS;
            return RpmaConnCfg.create()
                    .setTimeout((int) Math.min(Integer.MAX_VALUE, NANOSECONDS.toMillis(options.connectNanos()) + 1))
                    .setSqSize(sends)
                    .setRqSize(receives)
                    .setCqSize(sends + receives);
        }

        void post(RpmaConnReq request) {
            for (int i = 0; i < receives.count(); i++) {
                if (!request.recv(receives.region(), receives.offset(i), receives.size(), i)) {
                    throw new IllegalStateException("no room for a receive");
                }
            }
        }

        /** Makes the link, which closes the connection. */
        Link link(RpmaConn conn, Hello other, End end, String name) {
            Link link = new Link(this, conn, other, end, name);
            used = true;
            return link;
        }

        @Override
        public void close() {
            if (!used) {
                channels.close(sends);
                channels.close(receives);
            }
        }
    }

    /** A message that has arrived. */
    private static final class Arrival {
        private final Frame frame;
        private final int slot;
        private final RpmaMrRemote remote;
        private Block block;
        private int asked;
        private int missing;

        /** Null until the message is read. */
        private ByteBuffer bytes;

        Arrival(Frame frame, int slot, ByteBuffer bytes, RpmaMrRemote remote) {
            this.frame = frame;
            this.slot = slot;
            this.bytes = bytes;
            this.remote = remote;
            missing = frame.length();
        }

        int length() {
            return frame.length();
        }
    }

    /** A message that waits for a credit, a buffer or a block. */
    private record Waiting(Frame.Kind kind, long id, Message message) {}

    private final Channels channels;
    private final RpmaConn conn;
    private final End owner;
    private final String name;
    private final Hello limits;
    private final int mostCredits;
    private final Buffers receives;
    private final Buffers sends;
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
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private final Deque<Block> offers = new ArrayDeque<>();
    private long waitingBytes;
    private int credits;
    private int owedCredits;
    private int owedReads;
    private long sent;
    private long completed;
    private LostException end;

    private Link(Setup setup, RpmaConn conn, Hello other, End owner, String name) {
        channels = setup.channels;
        receives = setup.receives;
        sends = setup.sends;
        this.conn = conn;
        this.owner = owner;
        this.name = name;
        limits = setup.own.with(other);
        mostCredits = other.receives();
        credits = mostCredits;
        long most = Math.max(limits.requestBytes(), limits.messageSize());
        outgoing = new Blocks(channels.peer(), RpmaMrUsage.READ_SRC, most);
        incoming = new Blocks(channels.peer(), RpmaMrUsage.READ_DST, most);
        channels.add(conn, this);
    }

    /** Begins to receive. */
    void start() {
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

    Hello limits() {
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

    /**
     * Sends a message, at once or when the other side has room for it. Its bytes are copied before this method returns.
     *
     * @throws LostException if the connection has ended
     */
    void send(Frame.Kind kind, long id, Message message) throws LostException {
        lock.lock();
        try {
            if (end != null) {
                throw new LostException(end.getMessage(), end);
            }
            if (!waiting.isEmpty() || !post(kind, id, message)) {
                byte[] copy = new byte[message.length()];
                write(message, ByteBuffer.wrap(copy));
                waiting.add(new Waiting(kind, id, Message.of(copy)));
                waitingBytes += copy.length;
            }
        } catch (LostException e) {
            end(e);
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** Sends a message, if there is a credit, a buffer, and for a large one a block. */
    private boolean post(Frame.Kind kind, long id, Message message) throws LostException {
        if (credits == 0 || !hasBuffer()) {
            return false;
        }
        int length = message.length();
        boolean isSmall = length <= limits.bufferSize() - Frame.SIZE;
        if (isSmall) {
            write(message, nextBuffer().position(Frame.SIZE).limit(Frame.SIZE + length));
        } else if (!offer(message, length)) {
            return false;
        }
        credits--;
        transmit(new Frame(kind, !isSmall, owedCredits, owedReads, length, id));
        return true;
    }

    /** Copies a message into a block, and the descriptor of the block into the next buffer. */
    private boolean offer(Message message, int length) {
        Block block = offers.size() < MOST_OFFERS ? outgoing.take(length) : null;
        if (block == null) {
            return false;
        }
        boolean written = false;
        try {
            write(message, block.bytes(0, length));
            written = true;
        } finally {
            if (!written) {
                outgoing.giveBack(block);
            }
        }
        offers.add(block);
        nextBuffer().position(Frame.SIZE).put(block.region().getDescriptor());
        return true;
    }

    private static void write(Message message, ByteBuffer target) {
        message.writeTo(target);
        if (target.hasRemaining()) {
            throw new IllegalStateException("the message has " + target.remaining() + " bytes less than its length");
        }
    }

    private boolean hasBuffer() {
        return sent - completed < sends.count();
    }

    private int nextIndex() {
        return (int) (sent % sends.count());
    }

    private ByteBuffer nextBuffer() {
        return sends.buffer(nextIndex());
    }

    /**
     * Posts the next buffer, which has all but the header. A completion frees all buffers before it, so only one of a
     * quarter of them requests one.
     */
    private void transmit(Frame frame) throws LostException {
        int index = nextIndex();
        frame.writeTo(nextBuffer());
        int content = frame.offered() ? offers.getLast().region().getDescriptorSize() : frame.length();
        int every = sends.count() / 4;
        int flags = sent % every == every - 1 ? RpmaConn.F_COMPLETION_ALWAYS : RpmaConn.F_COMPLETION_ON_ERROR;
        owedCredits = 0;
        owedReads = 0;
        try {
            if (!conn.send(sends.region(), sends.offset(index), Frame.SIZE + content, flags, sent)) {
                throw lost("the send queue is full", null);
            }
        } catch (RpmaException | IllegalStateException e) {
            throw lost(e.getMessage(), e);
        }
        sent++;
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
            do {
                deliver();
            } while (!broken && sendWaiting() && !arrivals.isEmpty());
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
            default -> completed(completions.wrId(index));
        }
    }

    private void completed(long number) {
        lock.lock();
        try {
            completed = number + 1;
        } finally {
            lock.unlock();
        }
    }

    private void arrived(int slot, int size) throws ChannelException {
        ByteBuffer bytes = receives.buffer(slot).limit(size);
        Frame frame = Frame.readFrom(bytes);
        if (frame.kind() == Frame.Kind.RETURN) {
            receive(slot); // before the other side can send another one
            takeBack(frame);
            return;
        }
        takeBack(frame);
        if (frame.length() > limits.messageSize()) {
            throw new ChannelException("a message of " + frame.length() + " bytes");
        }
        if (frame.offered()) {
            arrivals.add(new Arrival(frame, slot, null, remote(frame, bytes)));
        } else if (bytes.remaining() == frame.length()) {
            arrivals.add(new Arrival(frame, slot, bytes, null));
        } else {
            throw new ChannelException("a message with another length than in its header");
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

    private void takeBack(Frame frame) throws ChannelException {
        lock.lock();
        try {
            credits += frame.credits();
            if (credits > mostCredits || frame.read() > offers.size()) {
                throw new ChannelException("more credits or reads than there are");
            }
            for (int i = 0; i < frame.read(); i++) {
                outgoing.giveBack(offers.remove());
            }
        } finally {
            lock.unlock();
        }
    }

    private void receive(int slot) throws LostException {
        if (!broken && !conn.recv(receives.region(), receives.offset(slot), receives.size(), slot)) {
            throw lost("the receive queue is full", null);
        }
    }

    /** Hands over the messages that are there, up to one that must be read first, and reads what there is room for. */
    private void deliver() throws ChannelException {
        startReads();
        while (!arrivals.isEmpty() && arrivals.element().bytes != null && isTaken()) {
            Arrival arrival = arrivals.remove();
            try {
                owner.received(arrival.frame, arrival.bytes);
            } finally {
                release(arrival);
            }
            receive(arrival.slot);
            owe(1, 0);
            startReads();
        }
    }

    private boolean isTaken() {
        lock.lock();
        try {
            return owner.takes(waiting.size(), waitingBytes);
        } finally {
            lock.unlock();
        }
    }

    private void release(Arrival arrival) {
        if (arrival.block != null) {
            incoming.giveBack(arrival.block);
        }
    }

    private void startReads() throws LostException {
        for (Arrival arrival : arrivals) {
            while (!broken && arrival.remote != null && arrival.asked < arrival.length()) {
                if (reads.size() == MOST_READS || !hasBlock(arrival)) {
                    return;
                }
                int size = Math.min(READ_SIZE, arrival.length() - arrival.asked);
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
        if (arrival.block == null) {
            arrival.block = incoming.take(arrival.length());
        }
        return arrival.block != null;
    }

    private void read(Arrival arrival, int size) {
        arrival.missing -= size;
        if (arrival.missing == 0) {
            arrival.bytes = arrival.block.bytes(0, arrival.length());
            arrival.remote.close();
            owe(0, 1);
        }
    }

    private void owe(int moreCredits, int moreReads) {
        lock.lock();
        try {
            owedCredits += moreCredits;
            owedReads += moreReads;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sends what waits, and gives back what is worth a message of its own if there is no other one. Returns whether
     * anything that has waited is sent.
     */
    private boolean sendWaiting() throws LostException {
        lock.lock();
        try {
            boolean any = false;
            while (!waiting.isEmpty()
                    && post(
                            waiting.element().kind(),
                            waiting.element().id(),
                            waiting.element().message())) {
                waitingBytes -= waiting.remove().message().length();
                any = true;
            }
            int half = (receives.count() - RETURNS) / 2;
            if ((owedCredits >= half || owedReads > 0) && hasBuffer()) {
                transmit(new Frame(Frame.Kind.RETURN, false, owedCredits, owedReads, 0, 0));
            }
            return any;
        } finally {
            lock.unlock();
        }
    }

    private LostException lost(String reason, Throwable cause) {
        return new LostException(name + ": " + reason, cause);
    }

    /** Ends the connection, from any thread. */
    void end(String reason, Throwable cause) {
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
            waiting.clear();
        } finally {
            lock.unlock();
        }
        channels.loop().execute(() -> tearDown(reason));
        return true;
    }

    private void tearDown(LostException reason) {
        registrations.forEach(RpmaEventLoop.Registration::cancel);
        channels.execute(this::free);
        owner.lost(reason);
    }

    /** In another thread: the close takes seconds if the other host is dead. */
    private void free() {
        channels.close(conn);
        arrivals.forEach(this::release);
        arrivals.stream().filter(arrival -> arrival.remote != null).forEach(arrival -> channels.close(arrival.remote));
        offers.forEach(outgoing::giveBack);
        channels.close(outgoing);
        channels.close(incoming);
        channels.close(sends);
        channels.close(receives);
        channels.remove(conn);
    }

    @Override
    public String toString() {
        return name;
    }
}
