// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Log;
import io.rpma.internal.LoopSource;
import io.rpma.internal.NativeObject;
import io.rpma.internal.PeerProbe;
import io.rpma.internal.Poller;
import io.rpma.internal.Waiter;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
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
 * an executor, which closes it. {@code failed} logs the failure and ends the connection. No event reports that a client's
 * host is dead: {@link #onPeerLost onPeerLost} notices this.
 *
 * <p><b>Turns.</b> {@link #run()} works in turns. In each turn it runs the tasks that are due, and then calls the
 * handler of each ready object once. A busy object therefore does not starve the others. The loop takes completions in
 * batches until there are none, and arms the queue again after that.
 *
 * <p><b>Slow handlers.</b> The thread of {@link #run()} calls the handlers, and a slow handler delays everything else
 * in the loop. {@link RpmaConn#close()}, for example, takes seconds if the other side's host is dead. If a handler is
 * registered with an executor, the executor calls it, and the handler delays nothing in the loop. The calls of one
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
    /** Half the range of the clock, so that differences of times have the right sign. */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Poller poller = new Poller("RpmaEventLoop");
    private final AtomicReference<Thread> runner = new AtomicReference<>();
    private final Map<NativeObject, LoopRegistration<?>> registrations = new ConcurrentHashMap<>();

    /**
     * Sorted by time. Cancelling must be cheap: a program that resets a timer with each message cancels as many timers
     * as it sets.
     */
    private final ConcurrentSkipListSet<Task> tasks = new ConcurrentSkipListSet<>();

    private final AtomicLong taskCount = new AtomicLong();

    // accessed only by the thread of run()
    private final Queue<LoopRegistration<?>> ready = new ArrayDeque<>();

    /** Whether {@link #stop()} was called and no {@link #run()} has returned for it. */
    private volatile boolean stopping;

    private volatile BiConsumer<Object, ? super Throwable> failureHandler = this::logFailure;

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

    private RpmaEventLoop() {}

    /**
     * Creates a loop.
     *
     * @return the loop; the caller closes it
     * @throws RpmaException if too many descriptors are open (see {@code ulimit -n})
     */
    public static RpmaEventLoop create() {
        RpmaEventLoop loop = new RpmaEventLoop();
        loop.poller.open();
        return loop;
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
        return request(ep, cfg, handler, null);
    }

    /**
     * Registers a handler of the requests of an endpoint. An executor calls the handler. Otherwise as
     * {@link #onRequest(RpmaEp, RpmaConnCfg, Handler)}.
     *
     * @param ep the endpoint
     * @param cfg the configuration of the connections, or null for the defaults; it must stay open until the
     *     registration ends
     * @param handler connects or closes each request
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException as {@link RpmaEp#nextConnReq(RpmaConnCfg)}
     * @throws IllegalStateException if {@code ep}, {@code cfg}, its shared receive queue or this loop is closed, or a
     *     loop already serves the endpoint
     * @throws RpmaException if the kernel refuses to watch another descriptor
     */
    public Registration onRequest(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler, Executor executor) {
        return request(ep, cfg, handler, checked(executor));
    }

    private Registration request(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler, Executor executor) {
        checkHandler(handler);
        ep.check(cfg);
        return register(new LoopSources.Requests(ep, cfg, handler), executor);
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
        return event(conn, handler, null);
    }

    /**
     * Registers a handler of the events of a connection. An executor calls the handler.
     *
     * @param conn the connection
     * @param handler handles each event
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalStateException if the connection or this loop is closed, or a loop already serves the connection's
     *     events
     * @throws RpmaException if the kernel refuses to watch another descriptor
     */
    public Registration onEvent(RpmaConn conn, Handler<? super RpmaConnEvent> handler, Executor executor) {
        return event(conn, handler, checked(executor));
    }

    private Registration event(RpmaConn conn, Handler<? super RpmaConnEvent> handler, Executor executor) {
        checkHandler(handler);
        return register(new LoopSources.Events(conn, handler), executor);
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
        return completion(cq, batchSize, handler, null);
    }

    /**
     * Registers a handler of the completions of a queue. An executor calls the handler. Otherwise as
     * {@link #onCompletion(RpmaCq, int, CompletionHandler)}.
     *
     * @param cq the queue
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the queue or this loop is closed, a loop already serves the queue, or a thread
     *     waits for it
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     kernel refuses to watch another descriptor
     */
    public Registration onCompletion(RpmaCq cq, int batchSize, CompletionHandler handler, Executor executor) {
        return completion(cq, batchSize, handler, checked(executor));
    }

    private Registration completion(RpmaCq cq, int batchSize, CompletionHandler handler, Executor executor) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(new LoopSources.Completions(cq.owner(), cq.ownChannel(), completions, handler), executor);
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
        return completion(conn, batchSize, handler, null);
    }

    /**
     * Registers a handler of the completions of a connection's shared completion channel. An executor calls the
     * handler. Otherwise as {@link #onCompletion(RpmaConn, int, CompletionHandler)}.
     *
     * @param conn the connection
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the connection or this loop is closed, a loop already serves the channel, or a
     *     thread waits for it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection was made without
     *     {@link RpmaConnCfg#setComplChannel}; or if the kernel refuses to watch another descriptor
     */
    public Registration onCompletion(RpmaConn conn, int batchSize, CompletionHandler handler, Executor executor) {
        return completion(conn, batchSize, handler, checked(executor));
    }

    private Registration completion(RpmaConn conn, int batchSize, CompletionHandler handler, Executor executor) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(new LoopSources.Completions(conn, conn.sharedChannel(), completions, handler), executor);
    }

    /**
     * Registers a handler that is called once, if the other side of a connection no longer answers. No event reports
     * that the other host has lost its power, that its kernel has crashed, or that the cable is cut: the device can
     * retry operations without end, and a connection without operations has nothing to retry.
     *
     * <p>This loop must serve the completions of {@link RpmaConn#getCq()}. After each {@code period} it checks whether
     * an operation has completed since the previous check. If none has, it posts a probe: a write of 0 bytes. If
     * nothing completes within {@code limit} after that, the other side is lost. So the handler is called at most
     * {@code 2 * period + limit} after the other host has died, if no slow handler delays the loop. With an executor for
     * the completions, the shorter of {@code period} and {@code limit} can be added. The time of the registration counts
     * as a completion, and each completion in {@code getCq()} counts, also of a receive.
     *
     * <pre>{@code
     * loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
     * loop.onPeerLost(conn, 1, 5, TimeUnit.SECONDS, this::end);
     * }</pre>
     *
     * <p>The handler is also called at the check after a failed probe, because a connection with a failed operation is
     * unusable. It is not called for a failed operation of the program, whose completion goes to the handler of
     * completions; the probe after it fails. {@link RpmaConnEvent#CLOSED} reports the orderly end of the other side, and
     * the end of its process: close the connection then. Otherwise the next probe has no answer, and this handler is
     * called too.
     *
     * <p><b>Transport.</b> On InfiniBand and RoCE, the device of the other side answers each write. On iWARP, a write can
     * complete when TCP has accepted its bytes, without an answer: a dead host is then noticed only after TCP has given up,
     * which takes minutes.
     *
     * <p><b>Limit.</b> The device carries out operations in order, so a probe waits for the operations that were posted
     * before it. Choose a limit that is longer than the longest transfer that the send queue can hold. The other side
     * also counts as lost if an operation waits for longer than the limit for a receive that the other side has not
     * posted. A full send queue prevents the probe, but is no failure: the completion of any operation shows that the
     * other side answers, and the limit begins again when the queue has room for the probe. A completion that waits for
     * a slow handler counts too: the other side is lost only if the queue is empty after the limit. A pause of the whole
     * host, for example of a virtual machine, or of a thread that polls the queue, can count as silence: choose a limit
     * that is longer than such a pause.
     *
     * <p><b>Cost.</b> A connection whose operations complete has no probes. On another connection, at most one probe at
     * a time occupies one place in the send queue and one in the completion queue: add one to
     * {@link RpmaConnCfg#setSqSize} and {@link RpmaConnCfg#setCqSize}. The probe requests a completion, which the
     * program never sees: it does not count in {@link RpmaCq#poll}, in a wait or in a handler. The other side's program
     * notices nothing. docs/benchmarks.md has the cost of a probe.
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
        return check(conn.probe(), conn, period, limit, unit, handler, null);
    }

    /**
     * Registers a handler that is called once, if the other side of a connection no longer answers. An executor calls
     * the handler. Otherwise as {@link #onPeerLost(RpmaConn, long, long, TimeUnit, Handler)}.
     *
     * @param conn the connection
     * @param period the time between checks, at least 1
     * @param limit the time after a probe within which an operation must complete, at least 1
     * @param unit the unit of {@code period} and {@code limit}
     * @param handler handles the connection, for example closes it
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException if {@code period} or {@code limit} is not positive
     * @throws IllegalStateException if the connection or this loop is closed, this loop does not serve the completions
     *     of the connection, or a check of the connection is active
     */
    public Registration onPeerLost(
            RpmaConn conn,
            long period,
            long limit,
            TimeUnit unit,
            Handler<? super RpmaConn> handler,
            Executor executor) {
        return check(conn.probe(), conn, period, limit, unit, handler, checked(executor));
    }

    /** The executor is null if the thread of {@link #run()} calls the handler. */
    <T> Registration check(
            PeerProbe probe,
            T source,
            long period,
            long limit,
            TimeUnit unit,
            Handler<? super T> handler,
            Executor executor) {
        checkHandler(handler);
        Objects.requireNonNull(unit, "unit");
        checkPositive("period", period);
        checkPositive("limit", limit);
        PeerCheck<T> check = new PeerCheck<>(
                this, probe, source, unit.toNanos(period), Math.min(LONGEST, unit.toNanos(limit)), handler, executor);
        check.start();
        return check;
    }

    private static void checkPositive(String name, long time) {
        if (time <= 0) {
            throw new IllegalArgumentException(name + " must be positive: " + time);
        }
    }

    private static void checkHandler(Object handler) {
        Objects.requireNonNull(handler, "handler");
    }

    private static Executor checked(Executor executor) {
        return Objects.requireNonNull(executor, "executor");
    }

    /** The executor is null if the thread of {@link #run()} calls the handler. */
    <T> Registration register(LoopSource<T> source, Executor executor) {
        LoopRegistration<T> registration = new LoopRegistration<>(this, source, executor);
        boolean registered = false;
        try {
            registration.start();
            // the descriptor need not report completions that arrived before the registration
            execute(registration::ready);
            registered = true;
        } finally {
            if (!registered) {
                registration.cancel();
            }
        }
        return registration;
    }

    /**
     * Sets the handler of failures. By default, failures are logged as warnings to the logger {@code io.rpma}.
     *
     * @param handler gets the source of a failure and the exception; null for the default. The source is the endpoint,
     *     the connection (for its events, completions and checks), the {@link io.rpma.rdmacm.RdmaId} (for its requests
     *     and events, and for the completions of its queues), the shared receive queue or the task. It is this
     *     loop if the loop itself fails, because memory is exhausted or epoll_wait(2) fails. This handler runs in the
     *     thread where the failure occurred
     * @return this object
     */
    public RpmaEventLoop onFailure(BiConsumer<Object, ? super Throwable> handler) {
        failureHandler = handler != null ? handler : this::logFailure;
        return this;
    }

    private void logFailure(Object source, Throwable failure) {
        Log.logger().log(System.Logger.Level.WARNING, this + ": a handler of " + source + " has failed", failure);
    }

    void failed(Object source, Throwable failure) {
        try {
            failureHandler.accept(source, failure);
        } catch (Throwable e) {
            Log.reportUncaught(e);
        }
    }

    /**
     * Runs a task in the thread of {@link #run()}, after the tasks that are already due. Tasks that have not begun when
     * the loop is closed are dropped.
     *
     * @param task the task; its exceptions go to {@link #onFailure}
     * @throws IllegalStateException if this loop is closed
     */
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.NANOSECONDS);
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
        Objects.requireNonNull(task, "task");
        if (delay < 0) {
            throw new IllegalArgumentException("delay must not be negative: " + delay);
        }
        Task scheduled = add(task, unit.toNanos(delay));
        if (dropIfClosed(scheduled)) {
            poller.object().checkOpen();
        }
        return scheduled;
    }

    /** As {@link #execute}, after a delay. Drops the task if the loop is closed. */
    Registration executeUnlessClosed(Runnable task, long nanos) {
        Task added = add(task, nanos);
        dropIfClosed(added);
        return added;
    }

    /**
     * Drops the task if the loop is closed, and returns whether this call has dropped the task. {@link #close()} does
     * not drop a task that another thread adds after {@code close()} has cleared the tasks.
     */
    private boolean dropIfClosed(Task added) {
        // a task that is gone has been run, or was dropped by close()
        return poller.object().isClosed() && tasks.remove(added);
    }

    private Task add(Runnable task, long nanos) {
        Task added = new Task(task, System.nanoTime() + Math.min(LONGEST, nanos));
        tasks.add(added);
        if (firstTask() == added && runner.get() != Thread.currentThread()) {
            poller.wake();
        }
        return added;
    }

    /**
     * Returns the first task, or null if there is none. The set's own first() throws an exception in this case, and
     * also if another thread removes the last task during the call.
     */
    private Task firstTask() {
        Iterator<Task> all = tasks.iterator();
        return all.hasNext() ? all.next() : null;
    }

    private final class Task implements Registration, Comparable<Task> {
        private final Runnable task;
        private final long time;
        private final long number = taskCount.incrementAndGet();

        Task(Runnable task, long time) {
            this.task = task;
            this.time = time;
        }

        @Override
        public int compareTo(Task other) {
            int order = Long.signum(time - other.time);
            return order != 0 ? order : Long.compare(number, other.number);
        }

        @Override
        public void cancel() {
            tasks.remove(this);
        }

        @Override
        public boolean isActive() {
            return tasks.contains(this);
        }

        @Override
        public String toString() {
            return task + " of " + RpmaEventLoop.this;
        }
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
        if (!runner.compareAndSet(null, Thread.currentThread())) {
            throw new IllegalStateException(this + " is running already");
        }
        try {
            while (!poller.object().isClosed() && !stopping) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("run of " + this);
                }
                turn();
            }
            stopping = false;
        } finally {
            runner.set(null);
        }
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
        stopping = true;
        if (runner.get() != Thread.currentThread()) {
            poller.wake();
        }
    }

    private void turn() {
        try {
            poller.poll(untilNext());
            runTasks();
            serveReady();
        } catch (Throwable e) {
            // out of memory, or epoll_wait(2) failed
            failed(this, e);
        }
    }

    private long untilNext() {
        if (!ready.isEmpty()) {
            return 0;
        }
        Task next = firstTask();
        return next == null ? Waiter.FOREVER : Math.max(0, next.time - System.nanoTime());
    }

    /** Runs the tasks that are due now. Tasks that are added meanwhile run in the next turn. */
    private void runTasks() {
        long now = System.nanoTime();
        for (Task next = firstTask(); isDue(next, now) && !isEnding(); next = firstTask()) {
            // another thread may have cancelled the task
            if (tasks.remove(next)) {
                run(next);
            }
        }
    }

    private static boolean isDue(Task task, long now) {
        return task != null && task.time - now <= 0;
    }

    /**
     * Whether the current thread must not begin another call: it is interrupted, which would disturb the next handler, or it is
     * the thread of {@link #run()}, and the loop is stopped.
     */
    boolean isEnding() {
        return Thread.currentThread().isInterrupted() || stopping && runner.get() == Thread.currentThread();
    }

    private void run(Task task) {
        try {
            task.task.run();
        } catch (Throwable e) {
            failed(task.task, e);
        }
    }

    private void serveReady() {
        for (int i = ready.size(); i > 0 && !isEnding(); i--) {
            serve(ready.remove());
        }
    }

    private void serve(LoopRegistration<?> next) {
        try {
            if (next.serve()) {
                ready.add(next);
            } else {
                next.rest();
            }
        } catch (Throwable e) {
            next.fail(e);
        }
    }

    /** Queues a registration to be served in this turn. Called by the thread of {@link #run()}. */
    void serveSoon(LoopRegistration<?> registration) {
        ready.add(registration);
    }

    void add(LoopRegistration<?> registration) {
        registrations.put(registration.descriptor(), registration);
    }

    void remove(LoopRegistration<?> registration) {
        registrations.remove(registration.descriptor(), registration);
    }

    /** Returns the registration that serves a descriptor, or null if there is none. */
    LoopRegistration<?> serving(NativeObject descriptor) {
        return registrations.get(descriptor);
    }

    Poller poller() {
        return poller;
    }

    /**
     * Ends {@link #run()} and all registrations, and drops the tasks that have not begun. Has no effect if the loop is
     * already closed. The registered objects stay open: the program must close them.
     *
     * <p>Does not wait for a handler that another thread calls. After {@link #run()} has returned, its thread calls no
     * handler.
     */
    @Override
    public void close() {
        poller.close();
        end();
    }

    /** Completes a close of the poller by {@link RpmaObjects#closeAll}. */
    void endIfClosed() {
        if (poller.object().isClosed()) {
            end();
        }
    }

    private void end() {
        registrations.values().forEach(this::cancel);
        tasks.clear();
    }

    private void cancel(LoopRegistration<?> registration) {
        try {
            registration.cancel();
        } catch (Throwable e) {
            // out of memory
            failed(registration.source(), e);
        }
    }

    @Override
    public String toString() {
        return poller.object().toString();
    }
}
