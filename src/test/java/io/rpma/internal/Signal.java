package io.rpma.internal;

/** An object with a descriptor, but without a device: it is readable while it is set. */
public final class Signal implements AutoCloseable {
    private final Poller poller = new Poller("Signal").open();

    public NativeObject object() {
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
