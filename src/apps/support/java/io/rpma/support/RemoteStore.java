// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;

/**
 * The operations on the memory of the other side: reading, storing bytes, and committing them with a word.
 *
 * <p>Bytes are read into and stored from the staging memory of this side. {@link #store} and {@link #commit} return a
 * ticket before they are done. The staging memory of a store must not be changed until the store is done.
 *
 * <p>Operations are done in the order of the calls, with one exception: the bytes of a store can arrive before an
 * earlier commit. So after a store and a commit, it suffices to wait for the commit. To overwrite bytes that a
 * committed word covers, reset the word first, and wait until the reset is done.
 *
 * <p>This interface is separate from the network, so that the code that uses it can be tested without a device.
 */
public interface RemoteStore {
    /** Returns the size of the other side's memory. */
    long size();

    /** Reads bytes into the staging memory and waits for them. */
    void read(long offset, int staging, int length) throws IOException, InterruptedException;

    /** Writes bytes of the staging memory and flushes them. {@code offset} is at least 8 bytes before the end. */
    long store(long offset, int staging, int length) throws IOException, InterruptedException;

    /** Sets 8 bytes to a little-endian number atomically and flushes them. {@code offset} is a multiple of 8. */
    long commit(long offset, long value) throws IOException, InterruptedException;

    /**
     * Waits until the operation of a ticket and all earlier operations are done.
     *
     * @throws LostException if the other side is gone: each operation that is not done may or may not be carried out
     *     there
     */
    void await(long ticket) throws IOException, InterruptedException;
}
