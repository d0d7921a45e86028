package io.rpma.examples.common;

import java.io.IOException;

/**
 * What is done with the other side's memory: read it, store bytes there, commit them by a word.
 *
 * <p>Bytes come from and go to the staging memory, this side's own that its device reads and writes. {@link #store} and
 * {@link #commit} return at once, with a ticket; the staging memory of a store must be left alone until it is done.
 *
 * <p>Operations are done in the order of the calls, with one exception: the bytes of a store may be there before an earlier commit
 * is. So whoever stores, commits and waits only for the commit knows that both are safe, and whoever overwrites what a committed
 * word speaks of takes that word back first, and waits.
 *
 * <p>Apart from the network so that what is built on it can be tested without a device.
 */
public interface RemoteStore {
    /** The size of the other side's memory. */
    long size();

    /** Reads bytes into the staging memory, and waits for them. */
    void read(long offset, int staging, int length) throws IOException, InterruptedException;

    /** Writes bytes of the staging memory and flushes them; {@code offset} is at least 8 bytes before the end. */
    long store(long offset, int staging, int length) throws IOException, InterruptedException;

    /** Sets 8 bytes to a little-endian number, all at once, and flushes them; {@code offset} is a multiple of 8. */
    long commit(long offset, long value) throws IOException, InterruptedException;

    /**
     * Waits until what a ticket stands for, and all before it, is done.
     *
     * @throws LostException if the other side is gone: nobody knows how much of what was not done is done there
     */
    void await(long ticket) throws IOException, InterruptedException;
}
