// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.loop.Entry;
import io.rpma.internal.loop.EventLoop;
import io.rpma.internal.loop.PeerProbe;
import io.rpma.internal.loop.Source;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Serves the requests, events and completions of many endpoints and connections in one thread. The objects of
 * {@code io.rpma.rdmacm} have methods that register them: see {@link io.rpma.rdmacm.RdmaId#onRequest RdmaId.onRequest},
 * {@link io.rpma.rdmacm.RdmaId#onEvent RdmaId.onEvent}, and {@link io.rpma.rdmacm.RdmaQp#onSendComp RdmaQp.onSendComp},
 * {@link io.rpma.rdmacm.RdmaQp#onRecvComp onRecvComp},
 * {@link io.rpma.rdmacm.RdmaQp#onSolicitedRecvComp onSolicitedRecvComp} and
 * {@link io.rpma.rdmacm.RdmaQp#onPeerLost onPeerLost}.
 *
 * <p>This server answers its clients:
 *
 * <pre>{@code
 * try (RpmaEventLoop loop = RpmaEventLoop.create()) {
 *     loop.onFailure(this::failed);
 *     loop.onRequest(ep, cfg, request -> {
 *         RpmaConn conn = accept(request);
 *         loop.onEvent(conn, event -> {
 *             if (event != RpmaConnEvent.ESTABLISHED) {
 *                 end(conn);
 *             }
 *         });
 *         loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
 *     });
 *     loop.run();
 * } finally {
 *     RpmaObjects.closeAll(conns);
 * }
 * }</pre>
 *
 * <p>{@code accept} connects the request and adds the connection to {@code conns}. {@code end} gives the connection to
 * an executor, which closes it. {@code failed} logs the failure and ends the connection. No event reports that a
 * client's host is dead: {@link #onPeerLost onPeerLost} notices this.
 *
 * <p><b>Turns.</b> {@link #run()} works in turns. In each turn it runs the tasks that are due, and then calls the
 * handler of each ready object once. A busy object therefore does not starve the others. The loop takes completions in
 * batches until there are none, and arms the queue again after that.
 *
 * <p><b>Slow handlers.</b> The thread of {@link #run()} calls the handlers, and a slow handler delays everything else
 * in the loop. {@link RpmaConn#close()}, for example, takes seconds if the other side's host is dead. If a handler is
 * registered through {@link #on}, an executor calls it, and the handler delays nothing in the loop. The calls of one
 * registration do not overlap, and the loop does not watch the object during them. After 16 calls the executor's other
 * tasks have a turn. The handlers of two registrations of one connection may be called at the same time. The executor
 * must run each task or throw an exception: if it drops a task, the registration stays active, but its handler is not
 * called again.
 *
 * <p><b>Handlers that fail</b> do not affect other registrations. {@link #onFailure} gets the exception, and the
 * registration of the handler ends. The connection or shared receive queue stays open, but this registration no longer
 * serves it: close it in the failure handler. A registration for requests does not end: the loop closes the request, or
 * the connection if the handler has connected the request. It closes the id of a request of librdmacm, with its memory
 * regions and address handles. The handler must close all other objects that it has made, for example an
 * {@link RpmaMrLocal}, before it throws the exception.
 *
 * <p>{@link #onFailure} also gets the exception if a request can't be taken, or if librpma does not know an event. The
 * registration continues. Exception: a registration for requests ends if its configuration or the shared receive queue
 * of the configuration is closed, or if a change makes the configuration invalid (see {@link RpmaEp#nextConnReq}). If
 * the request may still be in the queue, for example because memory is exhausted, the loop waits for a second before it
 * takes requests again. If an item can't be taken for any other reason, or if an executor refuses a task, the
 * registration ends, and {@link #onFailure} gets the exception.
 *
 * <p><b>Stop and interruption.</b> {@link #stop()}, or an interruption of the thread of {@link #run()}, ends
 * {@link #run()} after the current call. Registrations do not end: the next {@link #run()} continues. If a handler
 * throws {@link InterruptedException}, its registration continues, the thread that called the handler is interrupted
 * again, and {@link #onFailure} gets the exception, because the item of the call is lost.
 *
 * <p><b>End.</b> A registration ends when it is cancelled, or when its object or the loop is closed. Any thread, and
 * any handler, may cancel or close. The loop then takes no further item for the handler. If the thread that calls the
 * handler ends the registration, no further call begins. If another thread ends it, the handler may still be called
 * with one item that was already taken: {@code cancel()} does not wait for that call, to avoid deadlock. Without an
 * executor, this call ends before {@link #run()} returns, and before the loop runs a task that was passed to
 * {@link #execute} after the end of the registration.
 *
 * <p>Only the loop serves a registered object: other loops and waits ({@link RpmaCq#await}, {@link RpmaConn#await},
 * {@link RpmaConn#nextEvent}, {@link RpmaEp#nextConnReq}, and the waits of {@code io.rpma.rdmacm}) throw
 * {@link IllegalStateException} until the registration ends. A wait for events or requests that began before the
 * registration continues, and may take an item before the loop does. If the loop takes the item first, the wait throws
 * {@link IllegalStateException}.
 *
 * <p>Safe for use by many threads. A registered object is not garbage-collected. A loop and its {@code n} connections
 * have {@code 3 + 2 * n} file descriptors, or {@code 3 + 3 * n} if each connection has a completion queue for receives
 * with its own channel, as each {@link io.rpma.rdmacm.RdmaQp} has: see {@code ulimit -n}.
 */
public final class RpmaEventLoop implements AutoCloseable {
    private final EventLoop engine;

    /** Calls the handlers; null for the thread of {@link #run()}. */
    private final Executor executor;

    /**
     * Handles requests or events.
     *
     * @param <T> the type of the item
     */
    @FunctionalInterface
    public interface Handler<T> {
        /**
         * Handles an item.
         *
         * @param item the request or event
         * @throws Exception if the handler fails; goes to {@link RpmaEventLoop#onFailure}
         */
        void handle(T item) throws Exception;
    }

    /** Handles completions. */
    @FunctionalInterface
    public interface CompletionHandler {
        /**
         * Handles a batch of completions.
         *
         * @param cq the queue of the completions
         * @param completions at least one completion; belongs to the registration and is valid until this call returns
         * @throws Exception if the handler fails; goes to {@link RpmaEventLoop#onFailure}
         */
        void handle(RpmaCq cq, RpmaCompletions completions) throws Exception;
    }

    /** An object that the loop serves, or a task that it runs. */
    public interface Registration {
        /**
         * Ends the registration. Has no effect if it has already ended. The loop takes no further item for the handler,
         * or does not run the task. {@link RpmaEventLoop} documents the calls that are under way in other threads.
         */
        void cancel();

        /** {@return {@code true} until the registration ends, or until the task begins} */
        boolean isActive();
    }

    private RpmaEventLoop() {
        engine = new EventLoop(this);
        executor = null;
    }

    private RpmaEventLoop(EventLoop engine, Executor executor) {
        this.engine = engine;
        this.executor = executor;
    }

    /**
     * Creates a loop.
     *
     * @return the loop; the caller closes it
     * @throws RpmaException if too many descriptors are open (see {@code ulimit -n})
     */
    public static RpmaEventLoop create() {
        RpmaEventLoop loop = new RpmaEventLoop();
        loop.engine.open();
        return loop;
    }

    /**
     * Returns a view of this loop for slow handlers: the executor calls the handlers that are registered through the
     * view. In all other respects the view is this loop.
     *
     * <pre>{@code
     * loop.on(executor).onEvent(conn, event -> conn.close());
     * }</pre>
     *
     * @param executor calls the handlers; it must run each task or throw an exception
     * @return the view
     */
    public RpmaEventLoop on(Executor executor) {
        return new RpmaEventLoop(engine, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * Registers a handler of the requests of an endpoint.
     *
     * @param ep the endpoint
     * @param cfg the configuration of the connections, or null for the defaults; it must stay open until the
     *     registration ends
     * @param handler connects or closes each request
     * @return the registration
     * @throws IllegalArgumentException as {@link RpmaEp#nextConnReq(RpmaConnCfg)}
     * @throws IllegalStateException if {@code ep}, {@code cfg}, its shared receive queue or this loop is closed, or a
     *     loop already serves the endpoint
     * @throws RpmaException if the kernel refuses to watch another descriptor
     */
    public Registration onRequest(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler) {
        checkHandler(handler);
        ep.check(cfg);
        return register(new LoopSources.Requests(ep, cfg, handler));
    }

    /**
     * Registers a handler of the events of a connection.
     *
     * @param conn the connection
     * @param handler handles each event
     * @return the registration
     * @throws IllegalStateException if the connection or this loop is closed, or a loop already serves the connection's
     *     events
     * @throws RpmaException if the kernel refuses to watch another descriptor
     */
    public Registration onEvent(RpmaConn conn, Handler<? super RpmaConnEvent> handler) {
        checkHandler(handler);
        return register(new LoopSources.Events(conn, handler));
    }

    /**
     * Registers a handler of the events of a device: see {@link RpmaDevice#nextEvent()}.
     *
     * @param device the device
     * @param handler handles each event
     * @return the registration
     * @throws IllegalStateException if this loop is closed, or a loop already serves the device's events
     * @throws RpmaException if the kernel refuses to watch another descriptor
     */
    public Registration onDeviceEvent(RpmaDevice device, Handler<? super RpmaDeviceEvent> handler) {
        checkHandler(handler);
        return register(new LoopSources.DeviceEvents(device, handler));
    }

    /**
     * Registers a handler of the completions of a queue, including completions that are already in the queue.
     *
     * @param cq the queue
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the queue or this loop is closed, a loop already serves the queue, or a thread
     *     waits for it
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     kernel refuses to watch another descriptor
     */
    public Registration onCompletion(RpmaCq cq, int batchSize, CompletionHandler handler) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(new LoopSources.Completions(cq.owner(), cq.ownChannel(), completions, handler));
    }

    /**
     * Registers a handler of the completions of a connection's shared completion channel, including completions that
     * are already in its queues. The queues of the channel take turns.
     *
     * @param conn the connection
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the connection or this loop is closed, a loop already serves the channel, or a
     *     thread waits for it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection was made without
     *     {@link RpmaConnCfg#setComplChannel}; or if the kernel refuses to watch another descriptor
     */
    public Registration onCompletion(RpmaConn conn, int batchSize, CompletionHandler handler) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(new LoopSources.Completions(conn, conn.sharedChannel(), completions, handler));
    }

    /**
     * Registers a handler that is called once, if the other side of a connection no longer answers. No event reports
     * that the other host has lost its power, that its kernel has crashed, or that the cable is cut: the device can
     * retry operations without end, and a connection without operations has nothing to retry.
     *
     * <p>This loop must serve the completions of {@link RpmaConn#getCq()}. After each {@code period} it checks whether
     * an operation has completed since the previous check. If none has, it posts a probe: a write of 0 bytes. If
     * nothing completes within {@code limit} after that, the other side is lost. So the handler is called at most
     * {@code 2 * period + limit} after the other host has died, if no slow handler delays the loop. With an executor
     * for the completions, the shorter of {@code period} and {@code limit} can be added. The time of the registration
     * counts as a completion, and each completion in {@code getCq()} counts, also of a receive.
     *
     * <pre>{@code
     * loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
     * loop.onPeerLost(conn, 1, 5, TimeUnit.SECONDS, this::end);
     * }</pre>
     *
     * <p>The handler is also called at the check after a failed probe, because a connection with a failed operation is
     * unusable. It is not called for a failed operation of the program, whose completion goes to the handler of
     * completions; the probe after it fails. {@link RpmaConnEvent#CLOSED} reports the orderly end of the other side,
     * and the end of its process: close the connection then. Otherwise the next probe has no answer, and this handler
     * is called too.
     *
     * <p><b>Transport.</b> On InfiniBand and RoCE, the device of the other side answers each write. On iWARP, a write
     * can complete when TCP has accepted its bytes, without an answer: a dead host is then noticed only after TCP has
     * given up, which takes minutes.
     *
     * <p><b>Limit.</b> The device carries out operations in order, so a probe waits for the operations that were posted
     * before it. Choose a limit that is longer than the longest transfer that the send queue can hold. The other side
     * also counts as lost if an operation waits for longer than the limit for a receive that the other side has not
     * posted. A full send queue prevents the probe, but is no failure: the completion of any operation shows that the
     * other side answers, and the limit begins again when the queue has room for the probe. A completion that waits for
     * a slow handler counts too: the other side is lost only if the queue is empty after the limit. A pause of the
     * whole host, for example of a virtual machine, can count as silence: choose a limit that is longer than such a
     * pause.
     *
     * <p><b>Cost.</b> A connection whose operations complete has no probes. On another connection, at most one probe at
     * a time occupies one place in the send queue and one in the completion queue: add one to
     * {@link RpmaConnCfg#setSqSize} and {@link RpmaConnCfg#setCqSize}. The probe requests a completion, which the
     * handlers of completions never see. Leave the queue to the loop: completions that the program polls do not count,
     * and a poll can find the completion of a probe, whose context is a random number. The other side's program notices
     * nothing. docs/benchmarks.md has the cost of a probe.
     *
     * <p>The check ends before the call of the handler, at {@link RpmaConn#disconnect} and {@link RpmaConn#close}, and
     * when the loop no longer serves the completions. If a probe can't be posted, for example because the connection is
     * not established at the second check, the check ends and {@link #onFailure} gets the exception.
     *
     * @param conn the connection
     * @param period the time between checks, at least 1
     * @param limit the time after a probe within which an operation must complete, at least 1
     * @param unit the unit of {@code period} and {@code limit}
     * @param handler handles the connection, for example closes it in another thread: {@link RpmaConn#close} takes
     *     seconds if the other host is dead
     * @return the registration
     * @throws IllegalArgumentException if {@code period} or {@code limit} is not positive
     * @throws IllegalStateException if the connection or this loop is closed, this loop does not serve the completions
     *     of the connection, or a check of the connection is active
     */
    public Registration onPeerLost(
            RpmaConn conn, long period, long limit, TimeUnit unit, Handler<? super RpmaConn> handler) {
        return check(conn.probe(), conn, period, limit, unit, handler);
    }

    <T> Registration check(
            PeerProbe probe, T source, long period, long limit, TimeUnit unit, Handler<? super T> handler) {
        checkHandler(handler);
        return new Registered().of(engine.check(probe, source, period, limit, unit, handler::handle, executor));
    }

    private static void checkHandler(Object handler) {
        Objects.requireNonNull(handler, "handler");
    }

    Registration register(Source<?> source) {
        return new Registered().of(engine.register(source, executor));
    }

    /** Made before its entry: after a failure to make it, the program could not cancel the entry. */
    private static final class Registered implements Registration {
        private Entry entry;

        Registration of(Entry made) {
            entry = made;
            return this;
        }

        @Override
        public void cancel() {
            entry.cancel();
        }

        @Override
        public boolean isActive() {
            return entry.isActive();
        }

        @Override
        public String toString() {
            return entry.toString();
        }
    }

    /**
     * Sets the handler of failures. By default, failures are logged as warnings to the logger {@code io.rpma}.
     *
     * @param handler gets the source of a failure and the exception; null for the default. The source is the endpoint,
     *     the connection (for its events, completions and checks), the {@link io.rpma.rdmacm.RdmaId} (for its requests
     *     and events, and for the completions of its queues), the shared receive queue, the device or the task. It
     *     is this loop if the loop itself fails, because memory is exhausted or epoll_wait(2) fails. This handler runs
     *     in the thread where the failure occurred
     * @return this object
     */
    public RpmaEventLoop onFailure(BiConsumer<Object, ? super Throwable> handler) {
        engine.onFailure(handler);
        return this;
    }

    /**
     * Runs a task in the thread of {@link #run()}, after the tasks that are already due. Tasks that have not begun when
     * the loop is closed are dropped.
     *
     * @param task the task; its exceptions go to {@link #onFailure}
     * @throws IllegalStateException if this loop is closed
     */
    public void execute(Runnable task) {
        engine.execute(task);
    }

    /**
     * Runs a task in the thread of {@link #run()}, once, after a delay.
     *
     * @param task the task; its exceptions go to {@link #onFailure}
     * @param delay the minimum delay; if the loop is idle, the task runs at most a millisecond later
     * @param unit the unit of {@code delay}
     * @return the registration of the task, by which it can be cancelled
     * @throws IllegalArgumentException if {@code delay} is negative
     * @throws IllegalStateException if this loop is closed
     */
    public Registration schedule(Runnable task, long delay, TimeUnit unit) {
        return new Registered().of(engine.schedule(task, delay, unit));
    }

    /**
     * Serves in the calling thread, which should be a platform thread, until the loop is stopped or closed. Returns at
     * once if it is already closed, or if {@link #stop()} was called before. After {@link #stop()} or an interruption,
     * the method can be called again, also by another thread.
     *
     * <p>An interruption that occurs together with {@link #stop()} or {@link #close()} can go unnoticed: the method
     * then returns, and the thread stays interrupted.
     *
     * @throws InterruptedException if the thread is interrupted before or during the call; a handler or task that is
     *     under way ends first
     * @throws IllegalStateException if this loop is already running
     */
    public void run() throws InterruptedException {
        engine.run();
    }

    /**
     * Ends {@link #run()} after the current call of a handler or task. Has no effect if the loop is closed. Any thread,
     * and any handler, may call this method. It does not wait for the end of {@link #run()}.
     *
     * <p>The registrations and the tasks stay, and the next {@link #run()} continues with them. Until then, the loop
     * takes nothing for handlers without an executor. An executor completes the calls that it has begun in its own
     * threads, at most 16 of each registration.
     *
     * <p>If {@link #run()} is not under way, the next {@link #run()} returns at once, so a stop is not lost if the
     * thread of {@link #run()} starts late. Several calls before {@link #run()} returns have the effect of one.
     */
    public void stop() {
        engine.stop();
    }

    EventLoop engine() {
        return engine;
    }

    /**
     * Closes the loop: ends {@link #run()} and all registrations, and drops the tasks that have not begun. Has no
     * effect if it is already closed. Waits while another thread closes it. The registered objects stay open: the
     * program must close them.
     *
     * <p>Does not wait for a handler that another thread calls. After {@link #run()} has returned, its thread calls no
     * handler.
     */
    @Override
    public void close() {
        engine.close();
    }

    @Override
    public String toString() {
        return engine.poller().object().describe();
    }
}
