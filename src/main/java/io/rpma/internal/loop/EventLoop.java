// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Log;
import io.rpma.internal.Poller;
import io.rpma.internal.Resource;
import io.rpma.internal.Stack;
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

/** The engine of {@code RpmaEventLoop}: its turns, its tasks, and the objects that it serves. */
public final class EventLoop {
    /** Half the range of the clock, so that differences of times have the right sign. */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Poller poller = new Poller("RpmaEventLoop");
    private final Object facade;
    private final AtomicReference<Thread> runner = new AtomicReference<>();
    private final Map<Resource, Served<?>> registrations = new ConcurrentHashMap<>();

    /**
     * Sorted by time. Cancelling must be cheap: a program that resets a timer with each message cancels as many timers
     * as it sets.
     */
    private final ConcurrentSkipListSet<Task> tasks = new ConcurrentSkipListSet<>();

    private final AtomicLong taskCount = new AtomicLong();

    // accessed only by the thread of run()
    private final Queue<Served<?>> ready = new ArrayDeque<>();

    /** Whether {@link #stop()} was called and no {@link #run()} has returned for it. */
    private volatile boolean stopping;

    private volatile BiConsumer<Object, ? super Throwable> failureHandler = this::logFailure;

    /**
     * Handles an item.
     *
     * @param <T> the type of the item
     */
    @FunctionalInterface
    public interface Handler<T> {
        /**
         * Handles an item.
         *
         * @param item the item
         * @throws Exception if the handler fails
         */
        void handle(T item) throws Exception;
    }

    /** @param facade the source of failures of the loop itself */
    public EventLoop(Object facade) {
        this.facade = facade;
    }

    /** Opens the descriptors. */
    public void open() {
        poller.open();
    }

    /**
     * Checks regularly whether the other side of a connection answers.
     *
     * @param <T> the type of {@code source}
     * @param probe the probes of the connection
     * @param source the object for the handler and for failures
     * @param period the time between two checks
     * @param limit the time from a check without a sign to the loss
     * @param unit the unit of both
     * @param handler called when the other side is lost
     * @param executor calls the handler; null for the thread of {@link #run()}
     * @return the check
     */
    public <T> Entry check(
            PeerProbe probe,
            T source,
            long period,
            long limit,
            TimeUnit unit,
            Handler<? super T> handler,
            Executor executor) {
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

    /**
     * Begins to serve a source.
     *
     * @param source the source
     * @param executor calls the handler; null for the thread of {@link #run()}
     * @return the registration
     */
    public Entry register(Source<?> source, Executor executor) {
        Served<?> registration = new Served<>(this, source, executor);
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
     * Sets the handler of failures.
     *
     * @param handler gets the source of a failure and the exception; null for a warning in the log
     */
    public void onFailure(BiConsumer<Object, ? super Throwable> handler) {
        failureHandler = handler != null ? handler : this::logFailure;
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
     * Runs a task in the thread of {@link #run()}.
     *
     * @param task the task
     */
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Runs a task in the thread of {@link #run()}, once, after a delay.
     *
     * @param task the task
     * @param delay the minimum delay
     * @param unit the unit of {@code delay}
     * @return the task, which can be cancelled
     */
    public Entry schedule(Runnable task, long delay, TimeUnit unit) {
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

    /**
     * As {@link #execute}, after a delay. Drops the task if the loop is closed.
     *
     * @param task the task
     * @param nanos the minimum delay
     * @return the task, which can be cancelled
     */
    public Entry executeUnlessClosed(Runnable task, long nanos) {
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

    private final class Task implements Entry, Comparable<Task> {
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
            return task + " of " + EventLoop.this;
        }
    }

    /**
     * Serves in the calling thread until the loop is stopped or closed.
     *
     * @throws InterruptedException if the thread is interrupted before or during the call
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

    /** Ends {@link #run()}, or the next one, after the current call of a handler or task. */
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
            failed(facade, e);
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
     * Whether the current thread must not begin another call: it is interrupted, which would disturb the next handler,
     * or it is the thread of {@link #run()}, and the loop is stopped.
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

    private void serve(Served<?> next) {
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
    void serveSoon(Served<?> registration) {
        ready.add(registration);
    }

    void add(Served<?> registration) {
        registrations.put(registration.descriptor(), registration);
    }

    void remove(Served<?> registration) {
        registrations.remove(registration.descriptor(), registration);
    }

    /** Returns the registration that serves a descriptor, or null if there is none. */
    Served<?> serving(Resource descriptor) {
        return registrations.get(descriptor);
    }

    /** {@return the poller, whose native object is that of the loop} */
    public Poller poller() {
        return poller;
    }

    /** Ends {@link #run()} and all registrations, and drops the tasks that have not begun. */
    public void close() {
        Stack.reserve();
        poller.close();
        end();
    }

    /** Completes a close of the poller by {@code RpmaObjects.closeAll}. */
    public void endIfClosed() {
        if (poller.object().isClosed()) {
            end();
        }
    }

    private void end() {
        registrations.values().forEach(this::cancel);
        tasks.clear();
    }

    private void cancel(Served<?> registration) {
        try {
            registration.end();
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
