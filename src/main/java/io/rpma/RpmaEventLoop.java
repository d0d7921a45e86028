package io.rpma;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.PriorityBlockingQueue;
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
 *     loop.onRequest(ep, cfg, request -> {
 *         RpmaConn conn = accept(request);
 *         loop.onEvent(conn, event -> {
 *             if (event != RpmaConnEvent.ESTABLISHED) {
 *                 conn.close();
 *             }
 *         });
 *         loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
 *     });
 *     loop.run();
 * }
 * }</pre>
 *
 * <p><b>Turns.</b> {@link #run()} goes in turns: what is due of the tasks, then one call of the handler of each object that
 * has something. So an object that always has something leaves the others their turns. Completions are taken in batches,
 * until there are none, and only then the queue is armed again.
 *
 * <p><b>Slow handlers.</b> Handlers are called by the thread of {@link #run()}, and hold up everything else of the loop: what
 * takes more than 100 ms is logged as a warning. A handler that is registered with an executor is called there instead and
 * holds up nobody: one call after the other, while the loop does not look at that object. Two registrations of
 * one connection may then be called at the same time.
 *
 * <p><b>Handlers that fail</b> harm no other registration. What is thrown goes to {@link #onFailure}, and the
 * registration ends; its object stays open. A handler of requests has the request closed instead, unless it is
 * connected, and gets the next one. Requests that can't be taken and events that librpma has no name for go to
 * {@link #onFailure} too, and end nothing.
 *
 * <p><b>Ends.</b> Registrations end when they are cancelled, when their object is closed or when the loop is; all that is
 * legal in every thread and in handlers. No call begins afterwards. One that another thread has just begun goes on.
 *
 * <p>An object that is registered is served by its loop alone: other loops and waits ({@link RpmaCq#await},
 * {@link RpmaConn#await}, {@link RpmaConn#nextEvent}, {@link RpmaEp#nextConnReq}) are refused with
 * {@link IllegalStateException} until the registration ends. Waits for events or requests that have begun before go on
 * beside it.
 *
 * <p>Safe for use by many threads. Objects that are registered are not collected. A loop has three descriptors.
 */
public final class RpmaEventLoop implements AutoCloseable {
    /** Of a call that holds the others up. */
    private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(100);

    /** Half of what the clock can tell apart, so that differences of times have the right sign. */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Poller poller = new Poller("RpmaEventLoop");
    private final AtomicReference<Thread> runner = new AtomicReference<>();
    private final Set<Served<?>> registrations = ConcurrentHashMap.newKeySet();
    private final PriorityBlockingQueue<Task> tasks = new PriorityBlockingQueue<>();
    private final AtomicLong taskCount = new AtomicLong();

    /** Of the thread that runs. */
    private final Queue<Served<?>> ready = new ArrayDeque<>();

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
        /** Ends it, so that no further call begins; does nothing if it has ended. */
        void cancel();

        /** {@return whether it has not ended} */
        boolean isActive();
    }

    private RpmaEventLoop() {
        poller.handle().watch(this);
    }

    /**
     * Creates a loop.
     *
     * @return the loop, to be closed
     * @throws RpmaException if there are too many descriptors open (see {@code ulimit -n})
     */
    public static RpmaEventLoop create() {
        return new RpmaEventLoop();
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
        return register(new Served.Requests(this, ep, cfg, handler, executor));
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
        return register(new Served.Events(this, conn, handler, executor));
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
        return register(new Served.Completions(
                this, cq, cq.ownChannel(), () -> cq.pollOnce(completions), completions, handler, executor));
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
        return register(new Served.Completions(
                this, conn, conn.sharedChannel(), () -> conn.pollBoth(completions), completions, handler, executor));
    }

    private static void checkHandler(Object handler) {
        Objects.requireNonNull(handler, "handler");
    }

    private static Executor checked(Executor executor) {
        return Objects.requireNonNull(executor, "executor");
    }

    Registration register(Served<?> served) {
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
     * @param handler gets the endpoint, connection, queue or task whose handler has failed, and what was thrown; null for the
     *     default. It is called by the thread that has called the handler.
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
     * Has a task run by the thread of {@link #run()}, soon, after those that were given before. Tasks that have not begun
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
     * @param delay after how long, to the millisecond
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
        Task scheduled = new Task(task, System.nanoTime() + Math.min(LONGEST, unit.toNanos(delay)));
        tasks.add(scheduled);
        // what is not there any more has been run, or dropped by close()
        if (poller.handle().isClosed() && tasks.remove(scheduled)) {
            poller.handle().checkOpen();
        }
        if (tasks.peek() == scheduled && runner.get() != Thread.currentThread()) {
            poller.wake();
        }
        return scheduled;
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
     * already. Interrupting the thread ends it too, and leaves it interrupted; then it can be called again.
     *
     * @throws IllegalStateException if it is running already
     */
    public void run() {
        Thread self = Thread.currentThread();
        if (!runner.compareAndSet(null, self)) {
            throw new IllegalStateException(this + " is running already");
        }
        try {
            while (!poller.handle().isClosed() && !self.isInterrupted()) {
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
        Task next = tasks.peek();
        return next == null ? Waiter.FOREVER : Math.max(0, next.time - System.nanoTime());
    }

    /** Those that are due now: what they give in turn comes with the next turn. */
    private void runTasks() {
        long now = System.nanoTime();
        for (Task next = tasks.peek(); next != null && next.time - now <= 0; next = tasks.peek()) {
            // another thread may cancel it meanwhile
            if (tasks.remove(next)) {
                run(next);
            }
        }
    }

    private void run(Task task) {
        long start = System.nanoTime();
        try {
            task.task.run();
        } catch (Throwable e) {
            failed(task.task, e);
        }
        warnIfSlow(task.task, start);
    }

    private void serveReady() {
        for (int i = ready.size(); i > 0; i--) {
            serve(ready.remove());
        }
    }

    private void serve(Served<?> next) {
        try {
            long start = System.nanoTime();
            boolean more = next.serve();
            warnIfSlow(next.source(), start);
            if (more) {
                ready.add(next);
            } else {
                next.rest();
            }
        } catch (Throwable e) {
            next.fail(e);
        }
    }

    private void warnIfSlow(Object source, long start) {
        long nanos = System.nanoTime() - start;
        if (nanos > SLOW) {
            Log.logger()
                    .log(
                            System.Logger.Level.WARNING,
                            this + ": a handler of " + source + " has held up the others for "
                                    + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
        }
    }

    /** Has an object served in this turn; called by the thread that runs. */
    void serveSoon(Served<?> served) {
        ready.add(served);
    }

    void remove(Served<?> served) {
        registrations.remove(served);
    }

    Poller poller() {
        return poller;
    }

    /**
     * Ends {@link #run()} and all registrations, and drops the tasks that have not begun; does nothing if that is done
     * already. The objects that were served stay open.
     *
     * <p>Does not wait for a handler that another thread has begun to call: when {@link #run()} has returned, its thread calls
     * none.
     */
    @Override
    public void close() {
        if (poller.close()) {
            registrations.forEach(Served::cancel);
            tasks.clear();
        }
    }

    @Override
    public String toString() {
        return poller.handle().toString();
    }
}
