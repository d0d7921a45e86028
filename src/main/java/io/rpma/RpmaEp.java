// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Log;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An endpoint, which listens for requests to connect.
 *
 * <pre>{@code
 * try (RpmaEp ep = RpmaEp.listen(peer, address, port);
 *         RpmaConn conn = ep.nextConnReq(null).connect(local.getDescriptor())) {
 *     System.out.println(conn.nextEvent());
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. Closing wakes the threads that wait for requests, and rejects the requests that were
 * not taken. Closing throws {@link IllegalStateException} while a request of this endpoint is neither connected nor
 * closed.
 *
 * <p>If librpma can't make the queues of a connection, the client is rejected.
 *
 * <p>Manual pages: rpma_ep_listen(3), rpma_ep_next_conn_req(3), rpma_ep_get_fd(3), rpma_ep_shutdown(3).
 */
public final class RpmaEp implements AutoCloseable {
    private static final String NEXT = "rpma_ep_next_conn_req";

    private final RpmaPeer peer;
    private final Resource object;
    private final String place;

    /**
     * Guards the event queue of the endpoint. The queue also contains the events of a connection that is being
     * accepted, until librpma moves them to the connection. No other thread may take them meanwhile.
     */
    private final ReentrantLock requests = new ReentrantLock();

    /**
     * The lock is held while the endpoint is marked as closed: this waits for a thread that is taking a request,
     * because the provisional request of that thread would prevent the close. The endpoint is shut down without the
     * lock: the kernel may take long, and no thread can reach the endpoint any more.
     */
    private static final class Shutdown extends ObjectKind {
        Shutdown(ReentrantLock requests) {
            super("rpma_ep_shutdown", requests);
        }

        @Override
        protected long delete(Resource ep) {
            return Natives.epShutdown(ep.handle());
        }
    }

    private RpmaEp(RpmaPeer peer, String place) {
        this.peer = peer;
        this.place = place;
        object = new Resource(this, "RpmaEp", new Shutdown(requests), peer.object());
    }

    /**
     * Listens on an address.
     *
     * <p>Blocks while a host name is resolved. The sysctl {@code net.rdma_ucm.max_backlog} (1,024 by default) limits the
     * number of requests that wait to be taken; the kernel rejects further ones.
     *
     * @param peer the peer of the connections
     * @param address an IPv4 or IPv6 address of the peer's device, or a host name, of which only the first address is
     *     tried; 0.0.0.0 or :: for all addresses, but requests that come by another device are rejected
     * @param port 1 to 65535; independent of the ports of TCP
     * @return the endpoint, which the caller closes before the peer
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters, or {@code port} is
     *     out of range
     * @throws IllegalStateException if the peer is closed
     * @throws RpmaException if no device has the address, or another endpoint listens there
     */
    public static RpmaEp listen(RpmaPeer peer, String address, int port) {
        Check.address(address);
        String service = Check.port(port);
        RpmaEp endpoint = new RpmaEp(peer, address + " port " + port);
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
     * Waits for the next request to connect, without a timeout.
     *
     * @param cfg the configuration of the connection, or null for the defaults
     * @return the request, which the caller connects or closes before this endpoint
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalArgumentException if {@code cfg} has a shared receive queue of another peer, or combines a shared
     *     channel with a shared receive queue that has its own completion queue
     * @throws IllegalStateException if this endpoint, {@code cfg} or its shared receive queue is closed before or
     *     during the wait, or an {@link RpmaEventLoop} serves this endpoint
     * @throws RpmaException if the queues of the connection can't be made, because {@code cfg} exceeds the limits of
     *     the device or the client has given up; the request is rejected, and this endpoint remains usable
     */
    public RpmaConnReq nextConnReq(RpmaConnCfg cfg) throws InterruptedException {
        return next(cfg, Waiter.FOREVER).orElseThrow();
    }

    /**
     * Waits for the next request to connect.
     *
     * @param cfg the configuration of the connection, or null for the defaults
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the request, which the caller connects or closes before this endpoint; empty if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalArgumentException if {@code timeout} is negative; or {@code cfg} has a shared receive queue of
     *     another peer, or combines a shared channel with a shared receive queue that has its own completion queue
     * @throws IllegalStateException if this endpoint, {@code cfg} or its shared receive queue is closed before or
     *     during the wait, or an {@link RpmaEventLoop} serves this endpoint
     * @throws RpmaException if the queues of the connection can't be made, because {@code cfg} exceeds the limits of
     *     the device or the client has given up; the request is rejected, and this endpoint remains usable
     */
    public Optional<RpmaConnReq> nextConnReq(RpmaConnCfg cfg, long timeout, TimeUnit unit) throws InterruptedException {
        return next(cfg, Waiter.nanos(timeout, unit));
    }

    private Optional<RpmaConnReq> next(RpmaConnCfg cfg, long nanos) throws InterruptedException {
        check(cfg);
        long start = Waiter.start(nanos);
        while (Waiter.await(NEXT, object, Waiter.left(nanos, start))
                && requests.tryLock(Waiter.left(nanos, start), TimeUnit.NANOSECONDS)) {
            try {
                Optional<RpmaConnReq> request = takeLocked(cfg);
                if (request.isPresent()) {
                    return request;
                }
            } finally {
                requests.unlock();
            }
        }
        return Optional.empty();
    }

    /** Checks that connections can be made with the configuration. */
    void check(RpmaConnCfg cfg) {
        RpmaConnCfg.use(cfg, peer).close();
    }

    /** The lock of the requests, which a thread that accepts or rejects one can hold for long. */
    ReentrantLock requests() {
        return requests;
    }

    /** Takes a request, if there is one. The caller holds the lock. */
    Optional<RpmaConnReq> takeLocked(RpmaConnCfg cfg) {
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(cfg, peer)) {
            RpmaConnReq request = new RpmaConnReq(peer, use.srq(), requests, RpmaSrq.with(use.srq(), object));
            Optional<RpmaConnReq> present = Optional.of(request);
            return take(use, request) ? present : Optional.empty();
        }
    }

    private boolean take(RpmaConnCfg.Use use, RpmaConnReq request) {
        request.object().begin();
        try {
            long taken = use.checkOpen(Natives.epNextConnReq(object.handle(), use.handle()));
            if (taken == Result.NO_EVENT) {
                // a client that has given up leaves a log message
                Log.deliver();
                return false;
            }
            request.object().made(NEXT, taken);
            return true;
        } finally {
            request.object().endMaking();
        }
    }

    /**
     * {@return the file descriptor that is readable while a request is pending, for epoll(7) and similar calls}
     *
     * <p>The descriptor belongs to this endpoint. Do not close it, read from it, or use it after the endpoint is
     * closed. It is non-blocking.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getFd() {
        return (int) Call.check("rpma_ep_get_fd", Natives.epGetFd(object.handle()), object);
    }

    /**
     * Closes the endpoint, which stops listening. Has no effect if it is already closed. Waits while another thread
     * closes it. Established connections are not affected.
     *
     * <p>Blocks while the kernel ends the listening, and while a request of this endpoint is taken, accepted or
     * rejected.
     *
     * @throws IllegalStateException if a request of this endpoint is neither connected nor closed; the message names
     *     it, and nothing is closed
     * @throws RpmaException if librpma reports a failure; the endpoint is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    Resource object() {
        return object;
    }

    @Override
    public String toString() {
        return object.describe(place);
    }
}
