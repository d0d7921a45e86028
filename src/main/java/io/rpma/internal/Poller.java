package io.rpma.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Tells one thread which of many objects have something to say: an epoll(7) instance. */
public final class Poller {
    private static final int MOST_READY = 256;
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final NativeObject epoll;

    /** By numbers that are never used again, so that what is late for one object is not taken for another. */
    private final Map<Long, Watch> watches = new ConcurrentHashMap<>();

    private final AtomicLong lastNumber = new AtomicLong();
    private final Waiting waiting = new Waiting();
    private final long[] ready = new long[MOST_READY];
    private int readyCount;
    private int nextReady;

    /**
     * To be opened.
     *
     * @param name what it is for
     */
    public Poller(String name) {
        epoll = new NativeObject(this, name);
    }

    /** Makes its native object, and returns this. */
    public Poller open() {
        epoll.made("epoll_create1", Natives.pollerNew());
        return this;
    }

    /** An object that may be watched. */
    public final class Watch {
        private final NativeObject object;
        private final Runnable whenReady;
        private final Long number = lastNumber.incrementAndGet();

        /** Whether the kernel knows the object's descriptor; of whoever may arm it, one thread at a time. */
        private boolean added;

        private Watch(NativeObject object, Runnable whenReady) {
            this.object = object;
            this.whenReady = whenReady;
        }

        /**
         * Watches for the next time that the object has something to say, or has already.
         *
         * @return 0, {@link Result#CLOSED} or an error; for {@link Call}
         */
        public int arm() {
            int armed = Natives.pollerWatch(epoll.handle(), object.handle(), number, added);
            added |= armed == 0;
            return armed;
        }

        /** Ends it; what is on its way is forgotten. */
        public void end() {
            watches.remove(number);
            Natives.pollerUnwatch(epoll.handle(), object.handle());
        }
    }

    /**
     * Begins to know an object, without watching it.
     *
     * @param whenReady what the polling thread then does; throws nothing
     */
    public Watch watch(NativeObject object, Runnable whenReady) {
        Watch watch = new Watch(object, whenReady);
        watches.put(watch.number, watch);
        return watch;
    }

    /**
     * Waits until objects that are watched have something to say, and tells them. One thread at a time does that.
     *
     * <p>Ends as well by {@link #wake()}, {@link #close()} and the thread's interruption.
     *
     * @param nanos for how long, rounded up to milliseconds; or {@link Waiter#FOREVER}
     */
    public void poll(long nanos) {
        // each is told of once: those behind a failure, as when memory runs out, come with the next call
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

    /** Ends a {@link #poll} under way, or else the next one. */
    public void wake() {
        Natives.pollerWake(epoll.handle());
    }

    public NativeObject object() {
        return epoll;
    }

    /** Returns whether this call has closed it. */
    public boolean close() {
        return epoll.close("close", Natives::pollerDelete);
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
