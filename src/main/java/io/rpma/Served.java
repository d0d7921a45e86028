package io.rpma;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * What an event loop serves: takes from an object, one thing at a time, and calls the handler with it.
 *
 * <p>Its descriptor is watched only while it rests, that is, when nothing was left. So a descriptor that stays readable
 * during a long call ends no wait of the loop.
 *
 * @param <T> what is taken
 */
abstract class Served<T> implements RpmaEventLoop.Registration {
    private static final String ARM = "epoll_ctl";

    private final RpmaEventLoop loop;
    private final Object source;
    private final Handle descriptor;
    private final Executor executor;
    private final Runnable closing = this::cancel;

    /** Whether it is to be served, or is being served: that has one thread at a time. */
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Guards beginning and ending, and the taking of what may leave something behind. */
    final QuietLock lock = new QuietLock();

    private Poller.Watch watch;
    private volatile boolean active;

    /**
     * @param source named to the user
     * @param descriptor has the descriptor
     * @param executor where the handler is called, or null for the loop's thread
     */
    Served(RpmaEventLoop loop, Object source, Handle descriptor, Executor executor) {
        this.loop = loop;
        this.source = source;
        this.descriptor = descriptor;
        this.executor = executor;
    }

    /** Takes something without waiting, or returns null: then the descriptor tells of the next one. */
    abstract T take();

    /** Calls the handler. */
    abstract void call(T taken) throws Exception;

    /** Lets nobody else listen to the descriptor. */
    void claim() {
        descriptor.claim(this);
    }

    /** Whether the next one can be taken after this failure. */
    boolean survives(Throwable takeFailure) {
        return false;
    }

    /** What becomes of something whose handler has failed; by default it is the end. */
    void callFailed(T taken, Throwable failure) {
        fail(failure);
    }

    RpmaEventLoop loop() {
        return loop;
    }

    Object source() {
        return source;
    }

    /**
     * Begins.
     *
     * @throws IllegalStateException if the object or the loop is closed, or somebody else listens
     * @throws RpmaException if the kernel refuses
     */
    void start() {
        int armed = Natives.CLOSED;
        lock.lock();
        try {
            claim();
            try {
                watch = loop.poller().watch(descriptor, this::ready);
                active = true;
            } finally {
                if (!active) {
                    descriptor.release();
                }
            }
            if (descriptor.beforeClose(closing)) {
                armed = watch.arm();
            }
        } finally {
            lock.unlock();
        }
        Call.check(ARM, armed, descriptor, loop.poller().handle());
    }

    @Override
    public boolean isActive() {
        return active;
    }

    @Override
    public void cancel() {
        lock.lock();
        try {
            // what was never begun must not end another one of the same object
            if (active) {
                active = false;
                watch.end();
                descriptor.notBeforeClose(closing);
                descriptor.release();
            }
        } finally {
            lock.unlock();
        }
        loop.remove(this);
    }

    /** The descriptor says that there is something; or there may have been before it was watched. */
    void ready() {
        if (active && busy.compareAndSet(false, true)) {
            try {
                if (executor == null) {
                    loop.serveSoon(this);
                } else {
                    executor.execute(this::serveAll);
                }
            } catch (Throwable e) {
                fail(e);
            }
        }
    }

    private void serveAll() {
        try {
            while (serve()) {
                // until there is nothing
            }
            rest();
        } catch (Throwable e) {
            fail(e);
        }
    }

    /**
     * Takes one thing and calls the handler with it.
     *
     * @return whether there may be more
     */
    boolean serve() {
        T taken;
        try {
            taken = active ? take() : null;
        } catch (RuntimeException | Error e) {
            return takeFailed(e);
        }
        if (taken == null) {
            return false;
        }
        try {
            call(taken);
        } catch (Throwable e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            callFailed(taken, e);
        }
        return true;
    }

    private boolean takeFailed(Throwable failure) {
        if (survives(failure)) {
            loop.failed(source, failure);
            return true;
        }
        // who closes the object ends this
        if (active && !descriptor.isClosed()) {
            fail(failure);
        }
        return false;
    }

    /** Waits for the descriptor again. */
    void rest() {
        try {
            busy.set(false);
            int armed = 0;
            lock.lock();
            try {
                if (active) {
                    armed = watch.arm();
                }
            } finally {
                lock.unlock();
            }
            // who closes the loop ends this
            if (armed != Natives.CLOSED) {
                Call.check(ARM, armed, descriptor);
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    final void fail(Throwable failure) {
        cancel();
        loop.failed(source, failure);
    }

    @Override
    public String toString() {
        return source + " served by " + loop;
    }

    /** The requests of an endpoint. */
    static final class Requests extends Served<RpmaConnReq> {
        private final RpmaEp ep;
        private final RpmaConnCfg cfg;
        private final RpmaEventLoop.Handler<? super RpmaConnReq> handler;

        Requests(
                RpmaEventLoop loop,
                RpmaEp ep,
                RpmaConnCfg cfg,
                RpmaEventLoop.Handler<? super RpmaConnReq> handler,
                Executor executor) {
            super(loop, ep, ep.handle(), executor);
            this.ep = ep;
            this.cfg = cfg;
            this.handler = handler;
        }

        @Override
        RpmaConnReq take() {
            return ep.take(cfg);
        }

        @Override
        void call(RpmaConnReq request) throws Exception {
            handler.handle(request);
        }

        /** One that can't be taken, or not for want of memory, must not lock out the next; a closed configuration does. */
        @Override
        boolean survives(Throwable takeFailure) {
            return takeFailure instanceof RpmaException || takeFailure instanceof Error;
        }

        /** One client's failure must not lock out the others. */
        @Override
        void callFailed(RpmaConnReq request, Throwable failure) {
            try {
                request.close();
            } catch (RpmaException e) {
                failure.addSuppressed(e);
            }
            loop().failed(source(), failure);
        }
    }

    /** The events of a connection. */
    static final class Events extends Served<RpmaConnEvent> {
        private final RpmaConn conn;
        private final RpmaEventLoop.Handler<? super RpmaConnEvent> handler;

        Events(
                RpmaEventLoop loop,
                RpmaConn conn,
                RpmaEventLoop.Handler<? super RpmaConnEvent> handler,
                Executor executor) {
            super(loop, conn, conn.handle(), executor);
            this.conn = conn;
            this.handler = handler;
        }

        @Override
        RpmaConnEvent take() {
            return conn.takeEvent();
        }

        @Override
        void call(RpmaConnEvent event) throws Exception {
            handler.handle(event);
        }

        /** One that librpma has no name for is taken. */
        @Override
        boolean survives(Throwable takeFailure) {
            return takeFailure instanceof RpmaException && ((RpmaException) takeFailure).error() == RpmaError.UNKNOWN;
        }
    }

    /** The completions of a channel. */
    static final class Completions extends Served<RpmaCq> {
        private final ComplChannel channel;
        private final Supplier<RpmaCq> poll;
        private final RpmaCompletions completions;
        private final RpmaEventLoop.CompletionHandler handler;

        /**
         * @param poll fills the completions and returns a queue that had some, or null
         */
        Completions(
                RpmaEventLoop loop,
                Object source,
                ComplChannel channel,
                Supplier<RpmaCq> poll,
                RpmaCompletions completions,
                RpmaEventLoop.CompletionHandler handler,
                Executor executor) {
            super(loop, source, channel.descriptor(), executor);
            this.channel = channel;
            this.poll = poll;
            this.completions = completions;
            this.handler = handler;
        }

        @Override
        void claim() {
            channel.claim(this);
        }

        /**
         * Not while it is cancelled: who waits afterwards must find what is left behind, and would not be woken for what
         * came between the event that is taken here and the re-arming.
         */
        @Override
        RpmaCq take() {
            lock.lock();
            try {
                return isActive() ? channel.take(poll) : null;
            } finally {
                lock.unlock();
            }
        }

        @Override
        void call(RpmaCq from) throws Exception {
            handler.handle(from, completions);
        }
    }
}
