package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Poller;
import io.rpma.internal.Result;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What an event loop serves: takes from an object, one thing at a time, and calls the handler with it.
 *
 * <p>Its descriptor is watched only while it rests, that is, when nothing was left. So a descriptor that stays readable
 * during a long call ends no wait of the loop.
 *
 * @param <T> what is taken
 */
abstract class LoopRegistration<T> implements RpmaEventLoop.Registration {
    private static final String ARM = "epoll_ctl";

    /** How often an executor calls the handler before its other tasks have their turn. */
    private static final int CALLS_IN_TURN = 16;

    /** Between two tries to take something for which there is no memory, in nanoseconds. */
    private static final long WHILE_STARVED = TimeUnit.SECONDS.toNanos(1);

    private final RpmaEventLoop loop;
    private final Object source;
    private final NativeObject descriptor;
    private final Executor executor;
    private final Runnable closing = this::cancel;

    /** Whether it is to be served, or is being served: that has one thread at a time. */
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Guards beginning, taking and ending: nothing is taken after the end. */
    private final ReentrantLock lock = new ReentrantLock();

    private Poller.Watch watch;
    private volatile boolean active;

    /** Whether memory was out the last time; of the thread that serves. */
    private boolean starved;

    /**
     * @param source named to the user
     * @param descriptor has the descriptor
     * @param executor where the handler is called, or null for the loop's thread
     */
    LoopRegistration(RpmaEventLoop loop, Object source, NativeObject descriptor, Executor executor) {
        this.loop = loop;
        this.source = source;
        this.descriptor = descriptor;
        this.executor = executor;
    }

    /**
     * Takes something without waiting, or returns null: then the descriptor tells of the next one. Not while the
     * registration ends: who comes afterwards has to find what is left.
     */
    abstract T take();

    /** Calls the handler. */
    abstract void call(T taken) throws Exception;

    /** Lets nobody else listen to the descriptor. */
    void claim() {
        descriptor.claim(loop);
    }

    /** Whether the next one can be taken after this failure. */
    boolean survives(Throwable takeFailure) {
        return false;
    }

    /** What becomes of something whose handler has failed; by default it is the end, unless the thread was interrupted. */
    void callFailed(T taken, Throwable failure) {
        if (failure instanceof InterruptedException) {
            loop.failed(source, failure);
        } else {
            fail(failure);
        }
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
            int armed = descriptor.beforeClose(closing) ? watch.arm() : Result.CLOSED;
            Call.check(ARM, armed, descriptor, loop.poller().object());
        } finally {
            lock.unlock();
        }
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
                    submit();
                }
            } catch (Throwable e) {
                fail(e);
            }
        }
    }

    private void submit() {
        try {
            executor.execute(this::serveTurn);
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void serveTurn() {
        try {
            int calls = 0;
            boolean more;
            do {
                more = serve();
                calls++;
            } while (more && calls < CALLS_IN_TURN && !Thread.currentThread().isInterrupted());
            if (more) {
                // by the loop, because an executor that calls at once would never come back
                loop.executeUnlessClosed(this::submit, 0);
            } else {
                rest();
            }
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
            taken = takeIfActive();
        } catch (RuntimeException | Error e) {
            takeFailed(e);
            // if there is more, the descriptor says so once the others have had their turn
            return false;
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

    private T takeIfActive() {
        lock.lock();
        try {
            return active ? take() : null;
        } finally {
            lock.unlock();
        }
    }

    private void takeFailed(Throwable failure) {
        if (survives(failure)) {
            starved = keepsWhatItIsOf(failure);
            loop.failed(source, failure);
        } else if (active && !descriptor.isClosed()) {
            // who closes the object ends this
            fail(failure);
        }
    }

    /** Whether what could not be taken is there still: the descriptor would say so at once, again and again. */
    private static boolean keepsWhatItIsOf(Throwable failure) {
        if (failure instanceof RpmaException) {
            return ((RpmaException) failure).error() == RpmaError.NOMEM
                    || failure.getMessage().contains("rdma_get_cm_event");
        }
        return failure instanceof OutOfMemoryError;
    }

    /** Waits for the descriptor again, after a while if what it speaks of could not be taken. */
    void rest() {
        if (!starved) {
            watchAgain();
            return;
        }
        starved = false;
        try {
            loop.executeUnlessClosed(this::watchAgain, WHILE_STARVED);
        } catch (OutOfMemoryError e) {
            watchAgain();
        }
    }

    private void watchAgain() {
        try {
            busy.set(false);
            lock.lock();
            try {
                int armed = active ? watch.arm() : 0;
                // who closes the loop ends this
                if (armed != Result.CLOSED) {
                    Call.check(ARM, armed, descriptor);
                }
            } finally {
                lock.unlock();
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
    static final class Requests extends LoopRegistration<RpmaConnReq> {
        private final RpmaEp ep;
        private final RpmaConnCfg cfg;
        private final RpmaEventLoop.Handler<? super RpmaConnReq> handler;

        Requests(
                RpmaEventLoop loop,
                RpmaEp ep,
                RpmaConnCfg cfg,
                RpmaEventLoop.Handler<? super RpmaConnReq> handler,
                Executor executor) {
            super(loop, ep, ep.object(), executor);
            this.ep = ep;
            this.cfg = cfg;
            this.handler = handler;
        }

        @Override
        RpmaConnReq take() {
            return ep.take(cfg).orElse(null);
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
                request.giveUp();
            } catch (RpmaException e) {
                failure.addSuppressed(e);
            }
            loop().failed(source(), failure);
        }
    }

    /** The events of a connection. */
    static final class Events extends LoopRegistration<RpmaConnEvent> {
        private final RpmaConn conn;
        private final RpmaEventLoop.Handler<? super RpmaConnEvent> handler;

        Events(
                RpmaEventLoop loop,
                RpmaConn conn,
                RpmaEventLoop.Handler<? super RpmaConnEvent> handler,
                Executor executor) {
            super(loop, conn, conn.object(), executor);
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
    static final class Completions extends LoopRegistration<RpmaCq> {
        private final ComplChannel channel;
        private final RpmaCompletions completions;
        private final RpmaEventLoop.CompletionHandler handler;

        Completions(
                RpmaEventLoop loop,
                Object source,
                ComplChannel channel,
                RpmaCompletions completions,
                RpmaEventLoop.CompletionHandler handler,
                Executor executor) {
            super(loop, source, channel.channel(), executor);
            this.channel = channel;
            this.completions = completions;
            this.handler = handler;
        }

        @Override
        void claim() {
            channel.claim(loop());
        }

        @Override
        RpmaCq take() {
            return channel.take(completions);
        }

        @Override
        void call(RpmaCq from) throws Exception {
            handler.handle(from, completions);
        }
    }
}
