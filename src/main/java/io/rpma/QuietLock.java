package io.rpma;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock under which no messages are delivered: what gets them may use the library, or wait for a thread that does. They
 * are delivered when the thread gives it back.
 */
final class QuietLock {
    private final ReentrantLock lock = new ReentrantLock();

    // messages are withheld before the lock is taken, which must not stay held for want of memory

    void lock() {
        boolean locked = false;
        Log.withhold();
        try {
            lock.lock();
            locked = true;
        } finally {
            deliverUnless(locked);
        }
    }

    void lockInterruptibly() throws InterruptedException {
        boolean locked = false;
        Log.withhold();
        try {
            lock.lockInterruptibly();
            locked = true;
        } finally {
            deliverUnless(locked);
        }
    }

    boolean tryLock() {
        Log.withhold();
        boolean locked = lock.tryLock();
        deliverUnless(locked);
        return locked;
    }

    boolean tryLock(long nanos) throws InterruptedException {
        boolean locked = false;
        Log.withhold();
        try {
            locked = lock.tryLock(nanos, TimeUnit.NANOSECONDS);
        } finally {
            deliverUnless(locked);
        }
        return locked;
    }

    private static void deliverUnless(boolean locked) {
        if (!locked) {
            Log.deliver();
        }
    }

    void unlock() {
        lock.unlock();
        Log.deliver();
    }
}
