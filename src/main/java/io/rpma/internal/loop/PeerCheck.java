// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Resource;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Checks whether the other side of a connection answers. The check is a task of the loop, which repeats itself. The
 * loop's polls of the queue find the answers, or find that there is none. The next check reports a loss.
 *
 * @param <T> the object of the program that has the connection
 */
final class PeerCheck<T> implements Entry {
    private final EventLoop loop;
    private final PeerProbe probe;
    private final T source;
    private final long period;
    private final long limit;
    private final EventLoop.Handler<? super T> handler;
    private final Executor executor;
    private final Runnable closing = this::cancel;
    private final AtomicBoolean active = new AtomicBoolean();

    /** Takes the completions. Set by {@link #start}. */
    private Served<?> server;

    private volatile Entry next;

    // used only by the thread of the loop

    private boolean waiting;
    private long deadline;

    /** The number of polls since the limit. */
    private int polls;

    /**
     * @param source the object for the handler and for failures
     * @param period the time between two checks, in nanoseconds
     * @param limit the time from a check without a sign to the loss, in nanoseconds
     * @param executor calls the handler; null for the loop's thread
     */
    PeerCheck(
            EventLoop loop,
            PeerProbe probe,
            T source,
            long period,
            long limit,
            EventLoop.Handler<? super T> handler,
            Executor executor) {
        this.loop = loop;
        this.probe = probe;
        this.source = source;
        this.period = period;
        this.limit = limit;
        this.handler = handler;
        this.executor = executor;
    }

    /**
     * Starts the check.
     *
     * @throws IllegalStateException if the connection or the loop is closed, the loop does not serve the completions,
     *     or another check is active
     */
    void start() {
        Resource queue = probe.queue();
        queue.checkOpen();
        loop.poller().object().checkOpen();
        server = loop.serving(queue);
        if (server == null) {
            throw new IllegalStateException(
                    loop + " does not serve " + queue + ": register a handler of its completions first");
        }
        active.set(true);
        boolean started = false;
        try {
            probe.begin(this);
            server.whenEnded(closing);
            started = queue.beforeClose(closing) && server.isActive();
            if (started) {
                checkLater(period);
            }
        } catch (Throwable e) {
            end();
            throw e;
        }
        if (!started) {
            end();
            queue.checkOpen();
            throw new IllegalStateException(loop + " no longer serves " + queue);
        }
    }

    private void checkLater(long nanos) {
        next = loop.executeUnlessClosed(this::check, nanos);
        if (!active.get()) {
            next.cancel();
        }
    }

    private void check() {
        try {
            if (!isActive()) {
                end();
            } else if (probe.isLost()) {
                report();
            } else {
                checkLater(checkNow());
            }
        } catch (Throwable e) {
            // not if the connection was closed meanwhile: its close ends the check
            if (end() && !probe.queue().isClosed()) {
                loop.failed(source, e);
            }
        }
    }

    /** Returns the time until the next check. */
    private long checkNow() {
        if (probe.takeSign()) {
            waiting = false;
            return period;
        }
        if (!waiting || deadline - System.nanoTime() > 0) {
            // again, if the send queue was full: the answer to the probe has the whole limit
            if (probe.post() || !waiting) {
                waiting = true;
                polls = 0;
                deadline = System.nanoTime() + limit;
            }
            return Math.min(period, deadline - System.nanoTime());
        }
        // the answer may be in the queue: only a poll that finds nothing ends the wait for it
        probe.limitReached();
        server.ready();
        polls++;
        // a poll of an executor can take longer than a turn of the loop
        return polls == 1 ? 0 : Math.min(period, limit);
    }

    private void report() {
        if (executor == null) {
            callHandler();
        } else {
            executor.execute(this::callHandler);
        }
    }

    private void callHandler() {
        if (!isActive() || !end()) {
            return;
        }
        try {
            handler.handle(source);
        } catch (Throwable e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            loop.failed(source, e);
        }
    }

    @Override
    public boolean isActive() {
        return active.get() && server.isActive();
    }

    @Override
    public void cancel() {
        end();
    }

    /** Returns whether this call has ended the check. */
    private boolean end() {
        if (!active.compareAndSet(true, false)) {
            return false;
        }
        probe.queue().notBeforeClose(closing);
        server.notWhenEnded(closing);
        Entry scheduled = next;
        if (scheduled != null) {
            scheduled.cancel();
        }
        return true;
    }

    @Override
    public String toString() {
        return "a check in " + loop;
    }
}
