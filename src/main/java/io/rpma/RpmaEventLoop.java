package io.rpma;

import io.rpma.internal.Log;
import io.rpma.internal.Poller;
import io.rpma.internal.Waiter;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/**
 * One thread that serves the requests, events and completions of many endpoints and connections.
 *
 * <p>A server that answers what its clients send:
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
 *     conns.forEach(RpmaConn::close);
 * }
 * }</pre>
 *
 * <p>There {@code accept} connects the request and adds the connection to {@code conns}, {@code end} has an executor close it,
 * and {@code failed} logs the failure and ends the connection that it is given.
 *
 * <p><b>Turns.</b> {@link #run()} goes in turns: what is due of the tasks, then one call of the handler of each object that
 * has something. So an object that always has something leaves the others their turns. Completions are taken in batches,
 * until there are none, and only then the queue is armed again.
 *
 * <p><b>Slow handlers.</b> Handlers are called by the thread of {@link #run()}, and hold up everything else of the loop: what
 * takes more than 100 ms is logged as a warning, once a second at most. {@link RpmaConn#close()} takes seconds if the other
 * side's host is dead. A handler that is registered with an executor is called there instead and holds up nobody: one call
 * after the other, 16 at most before the executor's other tasks have their turn, while the loop does not look at that
 * object. Two registrations of one connection may then be called at the same time.
 *
 * <p><b>Handlers that fail</b> harm no other registration. What is thrown goes to {@link #onFailure}, and the
 * registration ends; its connection stays open, though nobody serves it, and is to be closed there. A handler of
 * requests gets the next one: the request is closed, or the connection if it was connected. Requests that can't be taken and
 * events that librpma has no name for go to {@link #onFailure} too, and end nothing; while memory is out a request is tried
 * once a second.
 *
 * <p><b>Interruption</b> of the thread of {@link #run()} stops the loop after the call under way and ends nothing: what is
 * left is served when {@link #run()} is called again. A handler that throws {@link InterruptedException} keeps its
 * registration; its thread is interrupted again, and {@link #onFailure} is told, because what it was called with is lost.
 *
 * <p><b>Ends.</b> Registrations end when they are cancelled, when their object is closed or when the loop is; all that is
 * legal in every thread and in handlers. When it has returned, nothing more is taken for the handler, and in the thread that
 * calls the handler no call begins. It does not wait for another thread, which might wait for this one: there a call of what
 * was taken before may be about to begin or under way. Without an executor it is over when a task runs that was given to the
 * loop afterwards ({@link #execute}), or when {@link #run()} has returned.
 *
 * <p>An object that is registered is served by its loop alone: other loops and waits ({@link RpmaCq#await},
 * {@link RpmaConn#await}, {@link RpmaConn#nextEvent}, {@link RpmaEp#nextConnReq}) are refused with
 * {@link IllegalStateException} until the registration ends. Waits for events or requests that have begun before go on
 * beside it.
 *
 * <p>Safe for use by many threads. Objects that are registered are not collected. A loop has three descriptors; a
 * connection has two, and three with a completion queue for receives: see {@code ulimit -n}.
 */
public final class RpmaEventLoop implements AutoCloseable {
    /** Half of what the clock can tell apart, so that differences of times have the right sign. */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Poller poller = new Poller("RpmaEventLoop");
    private final AtomicReference<Thread> runner = new AtomicReference<>();
    private final Set<LoopRegistration<?>> registrations = ConcurrentHashMap.newKeySet();

    /** By their times. A timer for each connection that is set again with each message is cancelled as often. */
    private final ConcurrentSkipListSet<Task> tasks = new ConcurrentSkipListSet<>();

    private final AtomicLong taskCount = new AtomicLong();

    // of the thread that runs
    private final Queue<LoopRegistration<?>> ready = new ArrayDeque<>();

    private volatile BiConsumer<Object, ? super Throwable> failureHandler = this::logFailure;

    /**
     * Handles requests or events.
     *
     * @param <T> what is handled
     */
    @FunctionalInterface
    public interface Handler<T> {
        /**
         * Handles one.
         *
         * @param what it is
         * @throws Exception passed to {@link RpmaEventLoop#onFailure}
         */
        void handle(T what) throws Exception;
    }

    /** Handles completions. */
    @FunctionalInterface
    public interface CompletionHandler {
        /**
         * Handles some.
         *
         * @param cq the queue that they are from
         * @param completions at least one; the registration's own, valid until this call returns
         * @throws Exception passed to {@link RpmaEventLoop#onFailure}
         */
        void handle(RpmaCq cq, RpmaCompletions completions) throws Exception;
    }

    /** An object that is served, or a task that is to be run. */
    public interface Registration {
        /**
         * Ends it; does nothing if it has ended. Nothing more is taken for the handler, or the task does not begin; see
         * {@link RpmaEventLoop} for calls that other threads have begun.
         */
        void cancel();

        /** {@return whether it has not ended} */
        boolean isActive();
    }

    private RpmaEventLoop() {}

    /**
     * Creates a loop.
     *
     * @return the loop, to be closed
     * @throws RpmaException if there are too many descriptors open (see {@code ulimit -n})
     */
    public static RpmaEventLoop create() {
        RpmaEventLoop loop = new RpmaEventLoop();
        loop.poller.open();
        return loop;
    }

    /**
     * Has the requests of an endpoint handled.
     *
     * @param ep the endpoint
     * @param cfg the configuration of the connections, or null for the defaults; not to be closed before the registration
     *     ends
     * @param handler connects or closes each request
     * @return the registration
     * @throws IllegalArgumentException as {@link RpmaEp#nextConnReq(RpmaConnCfg)}
     * @throws IllegalStateException if something is closed, or a loop serves the endpoint already
     * @throws RpmaException if the kernel refuses to watch one more descriptor
     */
    public Registration onRequest(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler) {
        return request(ep, cfg, handler, null);
    }

    /**
     * Has the requests of an endpoint handled, as {@link #onRequest(RpmaEp, RpmaConnCfg, Handler)}, by an executor.
     *
     * @param ep the endpoint
     * @param cfg the configuration of the connections, or null for the defaults; not to be closed before the registration
     *     ends
     * @param handler connects or closes each request
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException as {@link RpmaEp#nextConnReq(RpmaConnCfg)}
     * @throws IllegalStateException if something is closed, or a loop serves the endpoint already
     * @throws RpmaException if the kernel refuses to watch one more descriptor
     */
    public Registration onRequest(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler, Executor executor) {
        return request(ep, cfg, handler, checked(executor));
    }

    private Registration request(RpmaEp ep, RpmaConnCfg cfg, Handler<? super RpmaConnReq> handler, Executor executor) {
        checkHandler(handler);
        ep.check(cfg);
        return register(new LoopRegistration.Requests(this, ep, cfg, handler, executor));
    }

    /**
     * Has the events of a connection handled.
     *
     * @param conn the connection
     * @param handler handles each event
     * @return the registration
     * @throws IllegalStateException if the connection or this loop is closed, or a loop serves the connection's events
     *     already
     * @throws RpmaException if the kernel refuses to watch one more descriptor
     */
    public Registration onEvent(RpmaConn conn, Handler<? super RpmaConnEvent> handler) {
        return event(conn, handler, null);
    }

    /**
     * Has the events of a connection handled by an executor.
     *
     * @param conn the connection
     * @param handler handles each event
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalStateException if the connection or this loop is closed, or a loop serves the connection's events
     *     already
     * @throws RpmaException if the kernel refuses to watch one more descriptor
     */
    public Registration onEvent(RpmaConn conn, Handler<? super RpmaConnEvent> handler, Executor executor) {
        return event(conn, handler, checked(executor));
    }

    private Registration event(RpmaConn conn, Handler<? super RpmaConnEvent> handler, Executor executor) {
        checkHandler(handler);
        return register(new LoopRegistration.Events(this, conn, handler, executor));
    }

    /**
     * Has the completions of a queue handled, those that are there already among them.
     *
     * @param cq the queue
     * @param batchSize how many completions the handler gets at once at most, at least 1
     * @param handler handles each batch
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the queue or this loop is closed, a loop serves the queue already, or a thread waits
     *     for it
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     kernel refuses to watch one more descriptor
     */
    public Registration onCompletion(RpmaCq cq, int batchSize, CompletionHandler handler) {
        return completion(cq, batchSize, handler, null);
    }

    /**
     * Has the completions of a queue handled, as {@link #onCompletion(RpmaCq, int, CompletionHandler)}, by an executor.
     *
     * @param cq the queue
     * @param batchSize how many completions the handler gets at once at most, at least 1
     * @param handler handles each batch
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the queue or this loop is closed, a loop serves the queue already, or a thread waits
     *     for it
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     kernel refuses to watch one more descriptor
     */
    public Registration onCompletion(RpmaCq cq, int batchSize, CompletionHandler handler, Executor executor) {
        return completion(cq, batchSize, handler, checked(executor));
    }

    private Registration completion(RpmaCq cq, int batchSize, CompletionHandler handler, Executor executor) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(
                new LoopRegistration.Completions(this, cq.owner(), cq.ownChannel(), completions, handler, executor));
    }

    /**
     * Has the completions of a connection's shared completion channel handled, those that are there already among them.
     * Its queues take turns.
     *
     * @param conn the connection
     * @param batchSize how many completions the handler gets at once at most, at least 1
     * @param handler handles each batch
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the connection or this loop is closed, a loop serves the channel already, or a
     *     thread waits for it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection is not made with
     *     {@link RpmaConnCfg#setComplChannel}; or if the kernel refuses to watch one more descriptor
     */
    public Registration onCompletion(RpmaConn conn, int batchSize, CompletionHandler handler) {
        return completion(conn, batchSize, handler, null);
    }

    /**
     * Has the completions of a connection's shared completion channel handled, as
     * {@link #onCompletion(RpmaConn, int, CompletionHandler)}, by an executor.
     *
     * @param conn the connection
     * @param batchSize how many completions the handler gets at once at most, at least 1
     * @param handler handles each batch
     * @param executor calls the handler
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the connection or this loop is closed, a loop serves the channel already, or a
     *     thread waits for it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection is not made with
     *     {@link RpmaConnCfg#setComplChannel}; or if the kernel refuses to watch one more descriptor
     */
    public Registration onCompletion(RpmaConn conn, int batchSize, CompletionHandler handler, Executor executor) {
        return completion(conn, batchSize, handler, checked(executor));
    }

    private Registration completion(RpmaConn conn, int batchSize, CompletionHandler handler, Executor executor) {
        checkHandler(handler);
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return register(
                new LoopRegistration.Completions(this, conn, conn.sharedChannel(), completions, handler, executor));
    }

    private static void checkHandler(Object handler) {
        Objects.requireNonNull(handler, "handler");
    }

    private static Executor checked(Executor executor) {
        return Objects.requireNonNull(executor, "executor");
    }

    Registration register(LoopRegistration<?> served) {
        registrations.add(served);
        boolean registered = false;
        try {
            served.start();
            // completions that came before are not told by the descriptor
            execute(served::ready);
            registered = true;
        } finally {
            if (!registered) {
                served.cancel();
            }
        }
        return served;
    }

    /**
     * Sets what is told of failures; by default they are logged as warnings to "io.rpma".
     *
     * @param handler gets what was thrown, and whose handler has thrown it: the endpoint; the connection, also if its
     *     completions were handled; the shared receive queue; the task; or this loop itself if it is out of memory. It is
     *     called by the thread that has called the handler. Null for the default.
     * @return this
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
     * Has a task run by the thread of {@link #run()}, soon, after those that were given here before. Tasks that have not begun
     * when the loop is closed are dropped.
     *
     * @param task what it throws goes to {@link #onFailure}
     * @throws IllegalStateException if this loop is closed
     */
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Has a task run by the thread of {@link #run()}, once, after some time.
     *
     * @param task what it throws goes to {@link #onFailure}
     * @param delay after how long: not earlier, and a millisecond later at most if nothing else is to be done
     * @param unit the unit of {@code delay}
     * @return to cancel it by
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

    /** As {@link #execute}, after some time; drops the task if the loop is closed. */
    void executeUnlessClosed(Runnable task, long nanos) {
        dropIfClosed(add(task, nanos));
    }

    /** Returns whether the task has been dropped here, because it came too late for {@link #close()} to do so. */
    private boolean dropIfClosed(Task added) {
        // what is not there any more has been run, or dropped by close()
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

    /** Returns null if there is none; the set's own first() would throw, also when others cancel the last one meanwhile. */
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
     * Serves in the calling thread, which should be a platform thread, until the loop is closed; at once if it is closed
     * already. Interrupting the thread ends it too, after the call under way, and leaves it interrupted; then it can be
     * called again.
     *
     * @throws IllegalStateException if it is running already
     */
    public void run() {
        Thread self = Thread.currentThread();
        if (!runner.compareAndSet(null, self)) {
            throw new IllegalStateException(this + " is running already");
        }
        try {
            while (!poller.object().isClosed() && !isInterrupted()) {
                turn();
            }
        } finally {
            runner.set(null);
        }
    }

    private void turn() {
        try {
            poller.poll(untilNext());
            runTasks();
            serveReady();
        } catch (Throwable e) {
            // out of memory
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

    /** Those that are due now: what they give in turn comes with the next turn. */
    private void runTasks() {
        long now = System.nanoTime();
        for (Task next = firstTask(); isDue(next, now) && !isInterrupted(); next = firstTask()) {
            // another thread may cancel it meanwhile
            if (tasks.remove(next)) {
                run(next);
            }
        }
    }

    private static boolean isDue(Task task, long now) {
        return task != null && task.time - now <= 0;
    }

    /** Then the loop stops, and what is called would be disturbed. */
    private static boolean isInterrupted() {
        return Thread.currentThread().isInterrupted();
    }

    private void run(Task task) {
        try {
            task.task.run();
        } catch (Throwable e) {
            failed(task.task, e);
        }
    }

    private void serveReady() {
        for (int i = ready.size(); i > 0 && !isInterrupted(); i--) {
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

    /** Has an object served in this turn; called by the thread that runs. */
    void serveSoon(LoopRegistration<?> served) {
        ready.add(served);
    }

    void remove(LoopRegistration<?> served) {
        registrations.remove(served);
    }

    Poller poller() {
        return poller;
    }

    /**
     * Ends {@link #run()} and all registrations, and drops the tasks that have not begun; does nothing if that is done
     * already. The objects that were served stay open: whoever closes them has to know them.
     *
     * <p>Does not wait for a handler that another thread calls: when {@link #run()} has returned, its thread calls none.
     */
    @Override
    public void close() {
        poller.close();
        registrations.forEach(this::cancel);
        tasks.clear();
    }

    private void cancel(LoopRegistration<?> served) {
        try {
            served.cancel();
        } catch (Throwable e) {
            // out of memory
            failed(served.source(), e);
        }
    }

    @Override
    public String toString() {
        return poller.object().toString();
    }
}
