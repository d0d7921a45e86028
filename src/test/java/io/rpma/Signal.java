package io.rpma;

/** An object with a descriptor, but without a device: it is readable while it is set. */
final class Signal implements AutoCloseable {
    private final Poller poller = new Poller("Signal").open();

    Handle handle() {
        return poller.handle();
    }

    void set() {
        poller.wake();
    }

    void clear() {
        poller.poll(0);
    }

    @Override
    public void close() {
        poller.close();
    }
}
