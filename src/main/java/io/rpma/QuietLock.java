package io.rpma;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock under which no messages are delivered: what gets them may use the library, or wait for a thread that does. They
 * are delivered when the thread gives it back.
 */
final class QuietLock {
    private final ReentrantLock lock = new ReentrantLock();

    void lock() {
        lock.lock();
        Log.withhold();
    }

    void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
        Log.withhold();
    }

    boolean tryLock() {
        return withheld(lock.tryLock());
    }

    boolean tryLock(long nanos) throws InterruptedException {
        return withheld(lock.tryLock(nanos, TimeUnit.NANOSECONDS));
    }

    private static boolean withheld(boolean locked) {
        if (locked) {
            Log.withhold();
        }
        return locked;
    }

    void unlock() {
        lock.unlock();
        Log.deliver();
    }
}
