package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;

/**
 * An endpoint that listens for requests to connect.
 *
 * <p>Safe for use by many threads. Closing wakes the threads that wait here, and throws {@link IllegalStateException}
 * while a request of this endpoint is neither connected nor closed. Requests that nobody has taken are rejected then.
 *
 * <p>When the queues of a connection can't be made, librpma forgets the request: its client gets no answer.
 *
 * <p>Manual pages: rpma_ep_listen(3), rpma_ep_next_conn_req(3), rpma_ep_get_fd(3), rpma_ep_shutdown(3).
 */
public final class RpmaEp implements AutoCloseable {
    private static final String NEXT = "rpma_ep_next_conn_req";

    private final RpmaPeer peer;
    private final NativeObject object;

    /**
     * Guards the endpoint's queue of events. Those of a connection that is being accepted are in it too, until librpma
     * moves them to the connection's own: nobody else may take them meanwhile.
     */
    private final ReentrantLock requests = new ReentrantLock();

    private RpmaEp(RpmaPeer peer) {
        this.peer = peer;
        object = new NativeObject(this, "RpmaEp", peer.object());
    }

    /**
     * Listens on an address.
     *
     * @param peer the peer that the connections will belong to
     * @param address an IPv4 or IPv6 address of the peer's device, or a host name; or 0.0.0.0 or :: for all addresses,
     *     where requests that come through another device fail
     * @param port 1 to 65535; not related to ports of TCP
     * @return the endpoint, to be closed before the peer
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters, or {@code port} is out
     *     of range
     * @throws IllegalStateException if the peer is closed
     * @throws RpmaException if the address is on no device or another endpoint listens there
     */
    public static RpmaEp listen(RpmaPeer peer, String address, int port) {
        Check.address(address);
        String service = Check.port(port);
        RpmaEp endpoint = new RpmaEp(peer);
        endpoint.object.begin();
        try {
            endpoint.object.made(
                    "rpma_ep_listen", Natives.epListen(peer.object().handle(), address, service));
        } finally {
            endpoint.object.endMaking();
        }
        return endpoint;
    }

    /**
     * Waits without end for the next request to connect.
     *
     * @param cfg the configuration of the connection, or null for the defaults
     * @return the request, to be connected or closed before this endpoint is closed
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if {@code cfg} has a shared receive queue of another
     *     peer, or one with a completion queue of its own and a shared completion channel too
     * @throws IllegalStateException if this endpoint, {@code cfg} or its shared receive queue is closed, before or while
     *     waiting, or an {@link RpmaEventLoop} serves this endpoint
     * @throws RpmaException if the queues of the connection can't be made, because {@code cfg} asks for too much or the
     *     client has given up meanwhile; the endpoint goes on
     */
    public RpmaConnReq nextConnReq(RpmaConnCfg cfg) throws InterruptedException {
        return next(cfg, Waiter.FOREVER).orElseThrow();
    }

    /**
     * Waits for the next request to connect.
     *
     * @param cfg the configuration of the connection, or null for the defaults
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the request, to be connected or closed before this endpoint is closed; empty if the time is up
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if {@code timeout} is negative, or {@code cfg} has a shared receive queue of another
     *     peer, or one with a completion queue of its own and a shared completion channel too
     * @throws IllegalStateException if this endpoint, {@code cfg} or its shared receive queue is closed, before or while
     *     waiting, or an {@link RpmaEventLoop} serves this endpoint
     * @throws RpmaException if the queues of the connection can't be made, because {@code cfg} asks for too much or the
     *     client has given up meanwhile; the endpoint goes on
     */
    public Optional<RpmaConnReq> nextConnReq(RpmaConnCfg cfg, long timeout, TimeUnit unit) throws InterruptedException {
        return next(cfg, Waiter.nanos(timeout, unit));
    }

    private Optional<RpmaConnReq> next(RpmaConnCfg cfg, long nanos) throws InterruptedException {
        check(cfg);
        long start = System.nanoTime();
        while (Waiter.await(NEXT, object, Waiter.left(nanos, start))) {
            Optional<RpmaConnReq> request = take(cfg);
            if (request.isPresent()) {
                return request;
            }
        }
        return Optional.empty();
    }

    /** Checks that connections can be made with the configuration. */
    void check(RpmaConnCfg cfg) {
        RpmaConnCfg.use(cfg, peer).close();
    }

    /** Takes a request, if there is one. */
    Optional<RpmaConnReq> take(RpmaConnCfg cfg) {
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(cfg, peer)) {
            RpmaConnReq request = new RpmaConnReq(peer, use.srq(), requests, RpmaSrq.with(use.srq(), object));
            Optional<RpmaConnReq> present = Optional.of(request);
            requests.lock();
            try {
                return take(use, request) ? present : Optional.empty();
            } finally {
                requests.unlock();
            }
        }
    }

    private boolean take(RpmaConnCfg.Use use, RpmaConnReq request) {
        request.object().begin();
        try {
            long taken = Natives.epNextConnReq(object.handle(), use.handle());
            if (taken == Result.NO_EVENT) {
                return false;
            }
            request.object().made(NEXT, taken);
            return true;
        } finally {
            request.object().endMaking();
        }
    }

    /**
     * {@return the descriptor on which requests can be waited for with epoll(7) and the like}
     *
     * <p>It is borrowed: never close it or read from it, and use it no more once this endpoint is closed. It does not
     * block.
     *
     * @throws IllegalStateException if closed
     */
    public int getFd() {
        return (int) Call.check("rpma_ep_get_fd", Natives.epGetFd(object.handle()), object);
    }

    /**
     * Stops listening; does nothing if it has stopped already. Established connections are not affected.
     *
     * @throws IllegalStateException if a request of this endpoint is neither connected nor closed; the message names it,
     *     and nothing is closed
     * @throws RpmaException if librpma reports a failure; the endpoint is closed all the same
     */
    @Override
    public void close() {
        LongUnaryOperator shutdown = Natives::epShutdown;
        if (markClosed()) {
            // without the lock: the kernel may take its time, and no thread reaches the endpoint any more
            object.endUses();
            object.free("rpma_ep_shutdown", shutdown);
        }
    }

    /** Not while a thread looks for a request: there would seem to be one. */
    private boolean markClosed() {
        requests.lock();
        try {
            return object.markClosed();
        } finally {
            requests.unlock();
        }
    }

    NativeObject object() {
        return object;
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
