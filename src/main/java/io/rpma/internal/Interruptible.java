// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

/**
 * Wakes a thread from a native method when the thread is interrupted.
 *
 * <p>This class is a selector only because {@link AbstractSelector#begin()} is the only supported way to be notified of
 * {@link Thread#interrupt()} during a native method. It never selects anything.
 */
abstract class Interruptible extends AbstractSelector {
    Interruptible() {
        super(null);
    }

    /** Ends the native method, which runs between {@link #begin()} and {@link #end()}. */
    abstract void wake();

    @Override
    public final Selector wakeup() {
        wake();
        return this;
    }

    @Override
    protected final void implCloseSelector() {
        throw unsupported();
    }

    @Override
    protected final SelectionKey register(AbstractSelectableChannel channel, int operations, Object attachment) {
        throw unsupported();
    }

    @Override
    public final Set<SelectionKey> keys() {
        throw unsupported();
    }

    @Override
    public final Set<SelectionKey> selectedKeys() {
        throw unsupported();
    }

    @Override
    public final int selectNow() {
        throw unsupported();
    }

    @Override
    public final int select(long timeout) {
        throw unsupported();
    }

    @Override
    public final int select() {
        throw unsupported();
    }

    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException("it selects nothing");
    }
}
