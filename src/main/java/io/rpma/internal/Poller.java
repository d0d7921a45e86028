// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** An epoll(7) instance, with which one thread waits until any of many objects is ready. */
public final class Poller {
    private static final int MOST_READY = 256;
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private static final ObjectKind KIND = new ObjectKind("close") {
        @Override
        protected long delete(Resource epoll) {
            return Natives.pollerDelete(epoll.handle());
        }
    };

    private final Resource epoll;

    /** The watches by their numbers. A number is never reused, so no late event is attributed to another object. */
    private final Map<Long, Watch> watches = new ConcurrentHashMap<>();

    private final AtomicLong lastNumber = new AtomicLong();
    private final Waiting waiting = new Waiting();
    private final long[] ready = new long[MOST_READY];
    private int readyCount;
    private int nextReady;

    /**
     * Creates a poller, which {@link #open} must open.
     *
     * @param name the name, for messages
     */
    public Poller(String name) {
        epoll = new Resource(this, name, KIND);
    }

    /** Makes the native object, and returns this poller. */
    public Poller open() {
        epoll.made("epoll_create1", Natives.pollerNew());
        return this;
    }

    /**
     * The registration of an object. Each {@link #arm} makes the poller report the object, once or until
     * {@link #disarm}.
     */
    public final class Watch {
        private final Resource object;
        private final Runnable whenReady;
        private final boolean once;
        private final Long number = lastNumber.incrementAndGet();

        /**
         * Whether the epoll instance contains the descriptor. Unguarded: only one thread at a time may arm, disarm or
         * end.
         */
        private boolean added;

        private Watch(Resource object, Runnable whenReady, boolean once) {
            this.object = object;
            this.whenReady = whenReady;
            this.once = once;
        }

        /**
         * Makes the poller report the object as soon as the object is ready. It may be ready already.
         *
         * @return 0, {@link Result#CLOSED} or an error, which {@link Call} converts
         */
        public int arm() {
            if (added && !once) {
                // still armed, without a system call
                return 0;
            }
            int armed = Natives.pollerWatch(epoll.handle(), object.handle(), number, once, added);
            added |= armed == 0;
            return armed;
        }

        /** Makes the poller report the object no more, until the next {@link #arm}. */
        public void disarm() {
            added = false;
            Natives.pollerUnwatch(epoll.handle(), object.handle());
        }

        /** Ends the registration. Events that the poller has not yet reported are discarded. */
        public void end() {
            watches.remove(number);
            disarm();
        }
    }

    /**
     * Registers an object, without watching it.
     *
     * @param object the object
     * @param whenReady the action of the polling thread when the object is ready; throws nothing
     * @param once whether an armed watch reports the object only once, and not in each poll while the object is ready
     */
    public Watch watch(Resource object, Runnable whenReady, boolean once) {
        Watch watch = new Watch(object, whenReady, once);
        watches.put(watch.number, watch);
        return watch;
    }

    /**
     * Waits until watched objects are ready, and runs their actions. Only one thread at a time may call this method.
     *
     * <p>{@link #wake()}, {@link #close()} and an interruption of the thread also end the wait.
     *
     * @param nanos the timeout, rounded up to milliseconds; or {@link Waiter#FOREVER}
     */
    public void poll(long nanos) {
        // epoll reports an object of a one-shot watch only once: if an action fails, for example for lack of memory,
        // the next call of this method runs the remaining actions
        if (nextReady == readyCount) {
            awaitReady(nanos);
        }
        while (nextReady < readyCount) {
            Watch watch = watches.get(ready[nextReady]);
            nextReady++;
            if (watch != null) {
                watch.whenReady.run();
            }
        }
    }

    private void awaitReady(long nanos) {
        int count = waiting.await(nanos);
        if (count < 0 && count != Result.CLOSED) {
            throw Call.failure("epoll_wait", count, epoll);
        }
        nextReady = 0;
        readyCount = Math.max(0, count);
    }

    /** Ends the current {@link #poll}. If no thread polls, the next call of {@link #poll} does not wait. */
    public void wake() {
        Natives.pollerWake(epoll.handle());
    }

    public Resource object() {
        return epoll;
    }

    /** Closes the poller, and returns whether this call has closed it. */
    public boolean close() {
        return epoll.close();
    }

    private final class Waiting extends Interruptible {
        int await(long nanos) {
            try {
                begin();
                return Natives.pollerWait(epoll.handle(), ready, millis(nanos));
            } finally {
                end();
            }
        }

        private int millis(long nanos) {
            if (nanos == Waiter.FOREVER) {
                return -1;
            }
            long millis = nanos / MILLISECOND + (nanos % MILLISECOND == 0 ? 0 : 1);
            return (int) Math.min(Integer.MAX_VALUE, millis);
        }

        @Override
        public void wake() {
            Poller.this.wake();
        }
    }
}
