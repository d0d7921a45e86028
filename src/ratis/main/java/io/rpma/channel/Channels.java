// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.lang.System.Logger;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * A thread and a device for many channels. The thread receives, and calls the handlers of requests and the actions of
 * futures; other threads make and end connections.
 */
public final class Channels implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger("io.rpma.channel");

    private static final String CLOSED = "the channels are closed";

    private static final int MOST_PORT = 65535;

    /** The time for the answers to requests that are under way at the close. */
    private static final long FINISH_NANOS = SECONDS.toNanos(2);

    private static final long RETRY_MS = 100;

    /** The most buffers of connections that are kept without a connection. */
    private static final int MOST_SPARE = 8;

    private final ChannelOptions options;
    private final RpmaPeer peer;
    private final RpmaEventLoop loop;
    private final Thread thread;
    private final RpmaConnCfg cfg;
    private final ExecutorService threads = Executors.newCachedThreadPool(Channels::daemon);
    private final ExecutorService acceptor = Executors.newSingleThreadExecutor(Channels::daemon);
    private final Map<RpmaConn, Link> links = new ConcurrentHashMap<>();
    private final Set<Channel> open = ConcurrentHashMap.newKeySet();
    private final Set<Listening> listening = ConcurrentHashMap.newKeySet();

    /** Those that connections have left: unmapped memory waits for a collection of garbage. */
    private final Queue<Block> spare = new ConcurrentLinkedQueue<>();

    /** Guarded by the lock of the listening objects. */
    private boolean listeningEnded;

    /** The registered memories. Guarded by the lock of the spare ones. */
    private int blocks;

    /** Guarded by the lock of the open channels. */
    private boolean closed;

    /** An address at which requests arrive. */
    public final class Listening implements AutoCloseable {
        private final String name;
        private final Supplier<? extends RequestHandler> handlers;
        private final RpmaEp endpoint;
        private final RpmaEventLoop.Registration requests;
        private final Set<Serving> servings = ConcurrentHashMap.newKeySet();

        private Listening(String address, int port, Supplier<? extends RequestHandler> handlers) {
            name = address + " port " + port;
            this.handlers = handlers;
            endpoint = RpmaEp.listen(peer, address, port);
            boolean listens = false;
            try {
                // The setup of a connection registers memory, which takes longer than the loop can wait.
                requests = loop.on(acceptor).onRequest(endpoint, cfg, this::accept);
                listens = true;
            } finally {
                if (!listens) {
                    endpoint.close();
                }
            }
        }

        private void accept(RpmaConnReq request) {
            Block buffers = null;
            RpmaConn conn = null;
            Serving made = null;
            try (request) {
                if (servings.size() >= options.connections()) {
                    throw new ChannelException("there are " + options.connections() + " already");
                }
                Hello limits = options.hello().with(request.getPrivateData());
                buffers = takeBuffers();
                Link.post(request, options, buffers);
                conn = request.connect(options.hello().toPrivateData());
                made = new Serving(
                        Channels.this, conn, buffers, limits, "a client of " + this, handlers.get(), servings);
                servings.add(made);
                made.start();
            } catch (ChannelException e) {
                log("a client is rejected: " + e.getMessage());
            } finally {
                if (made == null && buffers != null) {
                    Channels.this.close(conn, buffers);
                }
            }
        }

        /**
         * Stops to listen, waits at most 2 s for the answers to the requests that have arrived, and ends the
         * connections. Has no effect if it is already closed.
         *
         * @throws IllegalStateException if the thread of the channels calls it
         */
        @Override
        public synchronized void close() {
            checkOtherThread();
            if (!listening.contains(this)) {
                return;
            }
            requests.cancel();
            CompletableFuture.runAsync(() -> {}, acceptor).join(); // a request belongs to the endpoint
            Channels.this.close(endpoint);
            long deadline = System.nanoTime() + FINISH_NANOS;
            servings.forEach(Serving::finish);
            servings.forEach(serving -> serving.awaitFinish(deadline));
            listening.remove(this);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private Channels(RpmaDevice device, ChannelOptions options) {
        this.options = options;
        peer = RpmaPeer.create(device);
        RpmaConnCfg madeCfg = null;
        RpmaEventLoop madeLoop = null;
        try {
            madeCfg = Link.cfg(options);
            madeLoop = RpmaEventLoop.create();
        } finally {
            if (madeLoop == null) {
                if (madeCfg != null) {
                    madeCfg.close();
                }
                peer.close();
            }
        }
        cfg = madeCfg;
        loop = madeLoop.onFailure(this::failed);
        thread = daemon(this::run);
        thread.setName("rpma-channels");
    }

    /**
     * Starts the thread.
     *
     * @param device the device of the connections
     * @param options the limits and times, which must not change any more
     * @return the channels, which the caller closes
     * @throws io.rpma.RpmaException if the device can't be used
     */
    public static Channels create(RpmaDevice device, ChannelOptions options) {
        Channels channels = new Channels(device, options);
        boolean started = false;
        try {
            channels.thread.start();
            started = true;
            return channels;
        } finally {
            if (!started) {
                channels.closeOwn();
            }
        }
    }

    /**
     * Answers the requests that arrive at an address.
     *
     * @param address an address of the device: see {@link RpmaEp#listen}
     * @param port 1 to 65535
     * @param handlers makes the handler of the requests of each connection
     * @return the object that stops this; {@link #close} stops it too
     * @throws io.rpma.RpmaException if the device does not have the address, or the port is taken
     */
    public Listening listen(String address, int port, Supplier<? extends RequestHandler> handlers) {
        Objects.requireNonNull(handlers, "handlers");
        // Not the lock of the channels: the resolution of the address takes time.
        synchronized (listening) {
            if (listeningEnded) {
                throw new IllegalStateException(CLOSED);
            }
            Listening made = new Listening(address, port, handlers);
            listening.add(made);
            return made;
        }
    }

    /**
     * Makes a channel. Does not block: the first request connects.
     *
     * @param address the address of the other side, or its host name
     * @param port 1 to 65535
     * @return the channel, which the caller closes; {@link #close} closes it too
     * @throws IllegalArgumentException if the address is empty, or the port is out of range
     */
    public Channel connect(String address, int port) {
        if (address.isEmpty() || port < 1 || port > MOST_PORT) {
            throw new IllegalArgumentException("no address, or a port that is not 1 to " + MOST_PORT + ": " + port);
        }
        synchronized (open) {
            if (closed) {
                throw new IllegalStateException(CLOSED);
            }
            Channel made = new Channel(this, address, port);
            open.add(made);
            return made;
        }
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "rpma-channels-connections");
        thread.setDaemon(true);
        return thread;
    }

    private void run() {
        boolean interrupted;
        do {
            interrupted = false;
            try {
                loop.run();
            } catch (InterruptedException e) {
                interrupted = true; // by a handler: nobody else knows this thread
            }
        } while (interrupted);
    }

    private void failed(Object source, Throwable cause) {
        Link link = source instanceof RpmaConn conn ? links.get(conn) : null;
        LOGGER.log(Logger.Level.WARNING, String.valueOf(link == null ? source : link), cause);
        if (link != null) {
            link.end(cause.toString(), cause);
        }
    }

    ChannelOptions options() {
        return options;
    }

    RpmaPeer peer() {
        return peer;
    }

    RpmaConnCfg cfg() {
        return cfg;
    }

    RpmaEventLoop loop() {
        return loop;
    }

    boolean isOwnThread() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task that can block: in another thread, or at once if this object is closed. */
    void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        } catch (OutOfMemoryError e) {
            // No thread can be made. The task frees memory or ends a wait, so it is not lost.
            loop.schedule(() -> execute(task), RETRY_MS, MILLISECONDS);
        }
    }

    void log(String message) {
        LOGGER.log(Logger.Level.WARNING, message);
    }

    void add(RpmaConn conn, Link link) {
        links.put(conn, link);
    }

    void remove(RpmaConn conn) {
        links.remove(conn);
    }

    void remove(Channel channel) {
        open.remove(channel);
    }

    /** Returns buffers for a connection. */
    Block takeBuffers() {
        Block left = spare.poll();
        return left == null ? Link.buffers(this) : left;
    }

    /** Takes back the buffers of a connection that is closed. */
    void giveBack(Block buffers) {
        if (spare.size() < MOST_SPARE) {
            spare.add(buffers);
        } else {
            free(buffers);
        }
    }

    /** Closes a connection, if there is one, that has no link, and takes its buffers back. */
    void close(RpmaConn conn, Block buffers) {
        if (conn != null) {
            close(conn);
        }
        giveBack(buffers);
    }

    /** Closes an object. It counts as closed after a failure too. */
    void close(AutoCloseable object) {
        try {
            object.close();
        } catch (Exception e) {
            log(object + ": " + e.getMessage());
        }
    }

    /**
     * Closes the channels, stops to listen, and ends the thread. Blocks while connections end: see
     * {@link RpmaConn#close}. Has no effect if it is already closed.
     *
     * @throws IllegalStateException if the thread of the channels calls it
     */
    @Override
    public void close() {
        checkOtherThread();
        synchronized (open) {
            if (closed) {
                return;
            }
            closed = true;
        }
        List.copyOf(open).forEach(Channel::close);
        synchronized (listening) {
            listeningEnded = true;
        }
        List.copyOf(listening).forEach(Listening::close);
        links.values().forEach(link -> link.end("this side is closed", null));
        awaitTurn();
        threads.shutdown();
        acceptor.shutdown();
        boolean interrupted = awaitThreads();
        awaitTurn(); // for a connection that was made meanwhile
        spare.forEach(this::free);
        awaitBlocks();
        closeOwn();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeOwn() {
        loop.close();
        cfg.close();
        peer.close();
    }

    /** Registers a memory. */
    Block register(int size, RpmaMrUsage... usages) {
        count(1);
        boolean made = false;
        try {
            Block block = new Block(peer, size, usages);
            made = true;
            return block;
        } finally {
            if (!made) {
                count(-1);
            }
        }
    }

    /** Closes a memory. */
    void free(Block block) {
        close(block);
        count(-1);
    }

    private void count(int more) {
        synchronized (spare) {
            blocks += more;
            spare.notifyAll();
        }
    }

    /** Waits for threads that still copy a large message. */
    private void awaitBlocks() {
        boolean interrupted = false;
        synchronized (spare) {
            while (blocks > 0) {
                try {
                    spare.wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the thread of the channels has done what it has to do now. */
    private void awaitTurn() {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        loop.execute(() -> turn.complete(null));
        turn.join();
    }

    /** Waits until all connections are closed; returns whether the thread was interrupted. */
    private boolean awaitThreads() {
        boolean interrupted = false;
        while (!threads.isTerminated()) {
            try {
                threads.awaitTermination(Long.MAX_VALUE, NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    private void checkOtherThread() {
        if (isOwnThread()) {
            throw new IllegalStateException("the thread of the channels can't wait for itself");
        }
    }
}
