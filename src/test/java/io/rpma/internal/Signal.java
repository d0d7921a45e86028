// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

/** An object with a descriptor that is readable while the signal is set. Needs no device. */
public final class Signal implements AutoCloseable {
    private final Poller poller = new Poller("Signal").open();

    public Resource object() {
        return poller.object();
    }

    public void set() {
        poller.wake();
    }

    public void clear() {
        poller.poll(0);
    }

    @Override
    public void close() {
        poller.close();
    }
}
