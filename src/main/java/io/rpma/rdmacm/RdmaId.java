// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.internal.Access;
import io.rpma.internal.Call;
import io.rpma.internal.ConnectionEvents;
import io.rpma.internal.Errno;
import io.rpma.internal.FlightEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import io.rpma.internal.loop.Source;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * A communication identifier ({@code struct rdma_cm_id}): one end of a connection, or a listener.
 *
 * <p>{@link #resolveAddr}, {@link #resolveRoute}, {@link #connect}, {@link #accept} and {@link #disconnect} start an
 * operation and do not wait for its end. An event reports the end. The program must take the events with
 * {@link #nextEvent} or {@link #awaitEvent}, because librdmacm processes an event when it is taken. For example, the
 * connection of the accepting side is established only after the connecting side has taken its event.
 *
 * <p>A client connects. {@link #createEp} replaces the calls up to the resolved route.
 *
 * <pre>{@code
 * try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
 *     client.resolveAddr(null, new InetSocketAddress(address, port), 2000);
 *     client.awaitEvent(RdmaEventType.ADDR_RESOLVED, 5, TimeUnit.SECONDS);
 *     client.resolveRoute(2000);
 *     client.awaitEvent(RdmaEventType.ROUTE_RESOLVED, 5, TimeUnit.SECONDS);
 *     client.createQp(new RdmaQpInitAttr().maxSendWr(16).maxRecvWr(16));
 *     client.connect(new RdmaConnParam());
 *     client.awaitEvent(RdmaEventType.ESTABLISHED, 5, TimeUnit.SECONDS);
 *     // post operations on client.qp()
 *     client.disconnect();
 * }
 * }</pre>
 *
 * <p>A server listens, and accepts a request. {@link #createEp} replaces {@link #create} and {@link #bindAddr}. The
 * server can {@link #reject} the request instead.
 *
 * <pre>{@code
 * try (RdmaId listener = RdmaId.create(RdmaPortSpace.TCP)) {
 *     listener.bindAddr(new InetSocketAddress(address, port));
 *     listener.listen(0);
 *     try (RdmaId server = listener.getRequest()) {
 *         server.createQp(new RdmaQpInitAttr().maxSendWr(16).maxRecvWr(16));
 *         server.accept(new RdmaConnParam());
 *         server.awaitEvent(RdmaEventType.ESTABLISHED, 5, TimeUnit.SECONDS);
 *         // post operations on server.qp()
 *         server.awaitEvent(RdmaEventType.DISCONNECTED, 5, TimeUnit.MINUTES);
 *         server.disconnect();
 *     }
 * }
 * }</pre>
 *
 * <p>An {@link RpmaEventLoop} can serve many ids in one thread: see {@link #onRequest} and {@link #onEvent}, and
 * {@link RdmaQp#onSendComp} and {@link RdmaQp#onRecvComp} for the completions. {@link RdmaQp#onPeerLost} reports that
 * the other host is dead.
 *
 * <p>Safe for use by many threads. {@link #close} wakes waiting threads. It throws {@link IllegalStateException} while
 * a memory region or an address handle of this id is open, or while another id uses the shared receive queue of this
 * id.
 *
 * <p>Manual pages: rdma_create_id(3), rdma_create_ep(3), rdma_bind_addr(3), rdma_listen(3), rdma_get_request(3),
 * rdma_resolve_addr(3), rdma_resolve_route(3), rdma_create_qp(3), rdma_create_srq(3), rdma_connect(3), rdma_accept(3),
 * rdma_reject(3), rdma_disconnect(3), rdma_get_cm_event(3), rdma_set_option(3), rdma_destroy_id(3).
 */
public final class RdmaId implements AutoCloseable {
    private static final String GET_REQUEST = "rdma_get_request";
    private static final String GET_EVENT = "rdma_get_cm_event";

    /** The size of {@code struct ibv_grh}, which precedes a received datagram. */
    private static final int HEADER_SIZE = 40;

    private static final int MAX_TOS = 255;

    private static final Set<RdmaEventType> ENDS = EnumSet.of(
            RdmaEventType.CONNECT_ERROR,
            RdmaEventType.UNREACHABLE,
            RdmaEventType.REJECTED,
            RdmaEventType.DISCONNECTED,
            RdmaEventType.DEVICE_REMOVAL,
            RdmaEventType.TIMEWAIT_EXIT);

    /** The field of a queue pair has 5 bits, which the system does not check. */
    private static final int MAX_ACK_TIMEOUT = 31;

    /** The progress of an id. The system accepts an option even if it comes too late to have an effect. */
    private enum Stage {
        CREATED("is new"),
        BOUND("is bound"),
        /** The resolution of the route has begun, or the route is from the request. */
        ROUTED("has a route"),
        LISTENING("listens"),
        /** A request was sent or accepted. */
        CONNECTING("connects");

        private final String description;

        Stage(String description) {
            this.description = description;
        }
    }

    private final Resource object;
    private final ConnectionEvents<RdmaEvent> events;
    private final RdmaPortSpace portSpace;
    private final RdmaEvent request;

    /** The attributes of the queue pairs that {@link #getRequest} creates, or null. */
    private final RdmaQpInitAttr requestAttr;

    /**
     * Guards the native id, because librdmacm does not lock it. Posts, polls, the registration of memory, the creation
     * of address handles and the destruction of the id do not take this lock. No wait holds it, but the kernel can take
     * its time for a call.
     */
    private final ReentrantLock control = new ReentrantLock();

    /** Guarded by {@link #control}. */
    private Stage stage;

    private volatile RdmaQp qp;
    private volatile RdmaSrq srq;
    private volatile Resource requests;

    /** 0 until the first registration. */
    private volatile int maxMessage;

    /**
     * The lock is held while the id is marked as closed, so that the id then gets no new queue. The id is destroyed
     * without the lock: the kernel can take seconds, and threads that wait for the lock must see the closed id soon.
     */
    private static final class Destruction extends ObjectKind {
        Destruction(ReentrantLock control) {
            super("rdma_destroy_id", control);
        }

        @Override
        protected long delete(Resource id) {
            return Natives.idDestroy(id.handle());
        }

        @Override
        protected byte[] deviceLimits(Resource id) {
            return Natives.idDeviceLimits(id.handle());
        }
    }

    private RdmaId(RdmaPortSpace portSpace, RdmaEvent request, RdmaQpInitAttr requestAttr) {
        this.portSpace = portSpace;
        this.request = request;
        this.requestAttr = requestAttr;
        stage = request == null ? Stage.CREATED : Stage.ROUTED;
        object = new Resource(this, "RdmaId", new Destruction(control));
        events = new ConnEvents();
    }

    /**
     * Creates an id with an event channel of its own.
     *
     * @param portSpace the port space
     * @return the id; the caller closes it
     * @throws io.rpma.RpmaException if there is no RDMA device, or the system refuses the id
     */
    public static RdmaId create(RdmaPortSpace portSpace) {
        int space = portSpace.value();
        RdmaId id = new RdmaId(portSpace, null, null);
        id.object.make("rdma_create_id", () -> Natives.idCreate(space));
        return id;
    }

    /**
     * Creates an id that is ready to connect or to listen.
     *
     * <p>Blocks until the address and the route are resolved, at most 6 seconds. Nothing ends the call earlier,
     * and closing {@code info} waits for the call. Use {@link #create} for other timeouts and for waits that an
     * interruption ends.
     *
     * @param info the address to connect to or to listen on; it can be closed after the call
     * @param attr the attributes of the queue pair of this id or, if {@code info} is for listening, of the queue pairs
     *     of the ids that {@link #getRequest} returns; null for no queue pair
     * @return the id; the caller closes it
     * @throws IllegalStateException if {@code info} or the shared receive queue of {@code attr} is closed
     * @throws io.rpma.RpmaException if the address can't be resolved or bound to, or the queue pair can't be created
     */
    public static RdmaId createEp(RdmaAddrInfo info, RdmaQpInitAttr attr) {
        RdmaPortSpace portSpace = info.portSpace();
        boolean passive = info.isPassive();
        RdmaId id = new RdmaId(portSpace, null, passive && attr != null ? new RdmaQpInitAttr(attr) : null);
        id.stage = passive ? Stage.BOUND : Stage.ROUTED;
        id.object.make("rdma_create_ep", () -> Natives.idCreateEp(checkedInfo(info)));
        if (!passive) {
            id.createFirstQp(attr);
        }
        return id;
    }

    private static long checkedInfo(RdmaAddrInfo info) {
        info.object().checkOpen();
        return info.object().handle();
    }

    /**
     * Creates the queue pair of a new id. If this fails, closes the id. The close rejects the request, if the id has
     * one.
     */
    private void createFirstQp(RdmaQpInitAttr attr) {
        if (attr == null) {
            return;
        }
        try {
            createQp(attr);
        } catch (RuntimeException | Error e) {
            closeAfter(e);
            throw e;
        }
    }

    private void closeAfter(Throwable failure) {
        try {
            close();
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }

    private long call(String operation, LongSupplier call) {
        return Call.check(operation, Call.locked(control, call), object);
    }

    /**
     * Binds the id to a local address and to the device of this address.
     *
     * @param address an address of this machine, or the wildcard address for all addresses; port 0 for a free port
     * @throws IllegalArgumentException if the host name of the address is unknown
     * @throws IllegalStateException if closed
     * @throws io.rpma.RpmaException if no RDMA device has the address, the address is in use, or the id is already
     *     bound
     */
    public void bindAddr(InetSocketAddress address) {
        byte[] bytes = SocketAddress.toBytes(address);
        call("rdma_bind_addr", () -> reached(Stage.BOUND, Natives.idBindAddr(object.handle(), bytes)));
    }

    private long reached(Stage next, long result) {
        if (result == 0 && stage.compareTo(next) < 0) {
            stage = next;
        }
        return result;
    }

    /**
     * Sets whether other ids can have the address and port of this id. The other ids need this option too. An id can't
     * listen while another id has its address and port, and no other id can get the address and port of an id that
     * listens. So the option is for ids that connect from the same port.
     *
     * @param reuse true to share the address and port, false (the initial value) to have them alone
     * @throws IllegalStateException if closed, after {@link #bindAddr}, {@link #resolveAddr} or {@link #listen}, or if
     *     the id is from {@link #createEp} or {@link #getRequest}
     * @throws io.rpma.RpmaException if the system refuses the call
     */
    public void setReuseAddr(boolean reuse) {
        setOption(Stage.BOUND, "setReuseAddr", () -> Natives.idSetReuseAddr(object.handle(), reuse));
    }

    /**
     * Sets the type of service of an id that connects: the traffic class of its packets. RoCE v2 sends it in the field
     * TOS of IPv4 or in the traffic class of IPv6: 6 bits for the code point of differentiated services, then 2 bits
     * for the notification of congestion. The side that accepts the request sends with the same traffic class.
     *
     * @param tos 0 to 255; without this call, the class is that of the system ({@code default_roce_tos} in configfs,
     *     usually 0)
     * @throws IllegalArgumentException if {@code tos} is out of range
     * @throws IllegalStateException if closed, after {@link #resolveRoute} or {@link #listen}, if {@link #createEp} has
     *     resolved the route, or if the id is from {@link #getRequest}
     * @throws io.rpma.RpmaException if the system refuses the call
     */
    public void setTos(int tos) {
        checkOption("type of service", tos, MAX_TOS);
        setOption(Stage.ROUTED, "setTos", () -> Natives.idSetTos(object.handle(), tos));
    }

    /**
     * Sets the time after which a packet without an acknowledgement is resent: 4.096 &micro;s * 2<sup>timeout</sup>,
     * for example 67 ms for 14. {@link RdmaConnParam#retryCount} is the number of times that a packet is resent.
     *
     * <p>The timeout is a field of the queue pair, which the system sets when the connection is made: set the timeout
     * before {@link #connect} or {@link #accept}. Each side has its own timeout. The ids that {@link #getRequest}
     * returns do not have the timeout of the listener. On RoCE, a timeout that was set before {@link #resolveRoute}
     * also determines the timeout of the side that accepts the request, if that side sets none.
     *
     * <p>Devices differ: the InfiniBand specification lets a device wait for up to four times as long, and a device can
     * have a minimum above the smallest timeouts. iWARP, whose packets TCP resends, has no such field: the call has no
     * effect.
     *
     * @param timeout 1 (8.192 &micro;s) to 31 (2.4 hours), or 0 to wait indefinitely
     * @throws IllegalArgumentException if {@code timeout} is out of range
     * @throws IllegalStateException if closed, after {@link #listen}, {@link #connect} or {@link #accept}, or if the id
     *     is for {@link RdmaPortSpace#UDP}
     * @throws io.rpma.RpmaException if the system refuses the call
     */
    public void setAckTimeout(int timeout) {
        checkOption("acknowledgement timeout", timeout, MAX_ACK_TIMEOUT);
        if (portSpace == RdmaPortSpace.UDP) {
            throw new IllegalStateException(object + " is for datagrams, which are not acknowledged");
        }
        setOption(Stage.LISTENING, "setAckTimeout", () -> Natives.idSetAckTimeout(object.handle(), timeout));
    }

    private static void checkOption(String name, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(name + " must be 0 to " + most + ", not " + value);
        }
    }

    private void setOption(Stage tooLate, String method, LongSupplier setting) {
        call("rdma_set_option", () -> setOptionBefore(tooLate, method, setting));
    }

    private long setOptionBefore(Stage tooLate, String method, LongSupplier setting) {
        object.checkOpen();
        if (stage.compareTo(tooLate) >= 0) {
            throw new IllegalStateException(object + " " + stage.description + ": it is too late for " + method + "()");
        }
        return setting.getAsLong();
    }

    /**
     * Starts the resolution of an address. {@link RdmaEventType#ADDR_RESOLVED} or {@link RdmaEventType#ADDR_ERROR}
     * reports its end.
     *
     * @param source the local address to connect from, or null for the address that the route selects
     * @param destination the address to connect to
     * @param timeoutMs the timeout of the resolution in milliseconds, 0 or more
     * @throws IllegalArgumentException if the host name of an address is unknown, or the timeout is negative
     * @throws IllegalStateException if closed
     * @throws io.rpma.RpmaException if an address can't be used, or the address is already resolved
     */
    public void resolveAddr(InetSocketAddress source, InetSocketAddress destination, int timeoutMs) {
        byte[] from = source == null ? new byte[0] : SocketAddress.toBytes(source);
        byte[] to = SocketAddress.toBytes(destination);
        checkTimeout(timeoutMs);
        call(
                "rdma_resolve_addr",
                () -> reached(Stage.BOUND, Natives.idResolveAddr(object.handle(), from, to, timeoutMs)));
    }

    /**
     * Starts the resolution of the route. {@link RdmaEventType#ROUTE_RESOLVED} or {@link RdmaEventType#ROUTE_ERROR}
     * reports its end.
     *
     * @param timeoutMs the timeout of the resolution in milliseconds, 0 or more
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if closed, or if the address is not resolved
     * @throws io.rpma.RpmaException if the route is already resolved
     */
    public void resolveRoute(int timeoutMs) {
        checkTimeout(timeoutMs);
        call("rdma_resolve_route", () -> reached(Stage.ROUTED, Natives.idResolveRoute(object.handle(), timeoutMs)));
    }

    private static void checkTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeoutMs);
        }
    }

    /**
     * Starts to listen for requests, which {@link #getRequest} takes. No thread may wait for an event of the id during
     * this call: the id moves to another event channel, whose events do not end a wait that started before.
     *
     * @param backlog the maximum number of pending requests, at most the sysctl {@code net.rdma_ucm.max_backlog} (1,024
     *     by default); 0 for this maximum
     * @throws IllegalArgumentException if {@code backlog} is negative
     * @throws IllegalStateException if closed or already listening, or if an event loop serves the events of this id
     * @throws io.rpma.RpmaException if another id has the address and port, or if this id has resolved an address to
     *     connect to
     */
    public void listen(int backlog) {
        if (backlog < 0) {
            throw new IllegalArgumentException("backlog must not be negative: " + backlog);
        }
        call("rdma_listen", () -> listenOnce(backlog));
    }

    private long listenOnce(int backlog) {
        object.checkOpen();
        if (requests != null) {
            throw new IllegalStateException(object + " listens already");
        }
        object.checkUnclaimed("rdma_listen");
        Resource listened = object.part("requests");
        long result = Natives.idListen(object.handle(), backlog);
        if (result > 0) {
            listened.madeWithWhole(result);
            requests = listened;
            stage = Stage.LISTENING;
        }
        return result;
    }

    /**
     * Waits for the next request, without a timeout.
     *
     * @return an id for the request, to accept or to reject; the caller closes it, before or after this id
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalStateException if closed before or during the wait, or if not listening
     * @throws io.rpma.RpmaException if the id of the request or its queue pair can't be created (the request is then
     *     rejected), or if another event occurs, for example {@link RdmaEventType#DEVICE_REMOVAL}; in both cases this
     *     id continues to listen. If librdmacm can't create the id and another event follows, the rejection is not
     *     reported.
     */
    public RdmaId getRequest() throws InterruptedException {
        return nextRequest(Waiter.FOREVER).orElseThrow();
    }

    /**
     * Waits for the next request.
     *
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return an id for the request, to accept or to reject; the caller closes it, before or after this id. Empty if
     *     the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed before or during the wait, or if not listening
     * @throws io.rpma.RpmaException if the id of the request or its queue pair can't be created (the request is then
     *     rejected), or if another event occurs, for example {@link RdmaEventType#DEVICE_REMOVAL}; in both cases this
     *     id continues to listen. If librdmacm can't create the id and another event follows, the rejection is not
     *     reported.
     */
    public Optional<RdmaId> getRequest(long timeout, TimeUnit unit) throws InterruptedException {
        return nextRequest(Waiter.nanos(timeout, unit));
    }

    private Optional<RdmaId> nextRequest(long nanos) throws InterruptedException {
        Resource queue = requestQueue();
        long start = Waiter.start(nanos);
        while (Waiter.await(GET_REQUEST, queue, Waiter.left(nanos, start))) {
            Optional<RdmaId> taken = takeRequest(queue, new RdmaEvent());
            if (taken.isPresent()) {
                return taken;
            }
        }
        return Optional.empty();
    }

    private Resource requestQueue() {
        Resource queue = requests;
        if (queue == null) {
            object.checkOpen();
            throw new IllegalStateException(object + " does not listen");
        }
        return queue;
    }

    /** Takes a request if there is one, with its event. Another thread may already have taken it. */
    private Optional<RdmaId> takeRequest(Resource queue, RdmaEvent event) {
        RdmaId id = new RdmaId(portSpace, event, null);
        Optional<RdmaId> present = Optional.of(id);
        LongSupplier taking = () -> Natives.idGetRequest(queue.handle(), event.bytes());
        try {
            long result = Call.locked(control, taking);
            if (result == Result.OTHER_EVENT) {
                throw unexpected(GET_REQUEST, event, RdmaEventType.CONNECT_REQUEST);
            }
            if (result <= 0) {
                Call.check(GET_REQUEST, result, object);
                return Optional.empty();
            }
            id.object.made(GET_REQUEST, result);
        } finally {
            id.object.endMaking();
        }
        id.createFirstQp(requestAttr);
        return present;
    }

    /**
     * Creates the queue pair. Receives can be posted before the connection is established.
     *
     * @param attr the requested attributes
     * @return the queue pair, which is closed with this id
     * @throws IllegalStateException if closed or not bound to a device, if the id already has a queue pair, or if the
     *     shared receive queue of {@code attr} is closed, or belongs to another id although this id has one
     * @throws io.rpma.RpmaException if the device refuses the queue pair, usually because an attribute exceeds its
     *     limit
     */
    public RdmaQp createQp(RdmaQpInitAttr attr) {
        int[] numbers = attr.numbers();
        RdmaSrq shared = attr.srq();
        boolean sigAll = attr.sigAll();
        call("rdma_create_qp", () -> createQpOnce(numbers, sigAll, shared));
        return qp;
    }

    private long createQpOnce(int[] numbers, boolean sigAll, RdmaSrq shared) {
        object.checkOpen();
        if (qp != null) {
            throw new IllegalStateException(object + " has a queue pair already");
        }
        boolean foreign = shared != null && shared.owner() != object;
        if (foreign && srq != null) {
            // two ids that use each other's queues could never be closed
            throw new IllegalStateException(
                    object + " has a shared receive queue, and can't use that of " + shared.owner());
        }
        // keeps the other id open while this id uses its shared receive queue
        Resource use = foreign ? object.part("queue pair", shared.owner()) : null;
        RdmaQp made = new RdmaQp(this, object, portSpace == RdmaPortSpace.UDP, shared != null || srq != null, sigAll);
        long[] queues = new long[2];
        if (foreign) {
            use.begin();
        }
        long result = Result.CLOSED;
        try {
            result = Natives.qpCreate(object.handle(), numbers, sigAll, shared == null ? 0 : shared.handle(), queues);
            if (result == 0) {
                made.made(numbers, queues);
                if (foreign) {
                    use.madeWithWhole(0);
                }
                qp = made;
            }
            return result;
        } finally {
            if (result != 0 && foreign) {
                use.leaveParents();
            }
        }
    }

    /**
     * {@return the queue pair; it is closed if this id is closed}
     *
     * @throws IllegalStateException if there is no queue pair
     */
    public RdmaQp qp() {
        RdmaQp pair = qp;
        if (pair == null) {
            object.checkOpen();
            throw new IllegalStateException(object + " has no queue pair");
        }
        return pair;
    }

    /**
     * Creates a shared receive queue. The queue pair of this id will use it, and queue pairs of other ids can use it.
     *
     * @param maxWr the maximum number of posted receives, at least 1
     * @param maxSge the maximum number of parts of a receive, 1 to {@link RdmaSgeList#MAX_CAPACITY}
     * @return the queue, which is closed with this id
     * @throws IllegalArgumentException if a number is out of range
     * @throws IllegalStateException if closed or not bound to a device, or if the id already has a shared receive queue
     *     or a queue pair
     * @throws io.rpma.RpmaException if the device refuses the queue, usually because a number exceeds its limit
     */
    public RdmaSrq createSrq(int maxWr, int maxSge) {
        if (maxWr < 1 || maxSge < 1 || maxSge > RdmaSgeList.MAX_CAPACITY) {
            throw new IllegalArgumentException("a shared receive queue has at least 1 receive, of 1 to "
                    + RdmaSgeList.MAX_CAPACITY + " parts, not " + maxWr + " of " + maxSge);
        }
        int[] numbers = {maxWr, maxSge};
        call("rdma_create_srq", () -> createSrqOnce(numbers));
        return srq;
    }

    private long createSrqOnce(int[] numbers) {
        object.checkOpen();
        if (srq != null || qp != null) {
            throw new IllegalStateException(
                    object + " has a " + (srq != null ? "shared receive queue" : "queue pair") + " already");
        }
        RdmaSrq made = new RdmaSrq(object);
        long result = Natives.rdmaSrqCreate(object.handle(), numbers);
        if (result > 0) {
            made.made(result, numbers[0], numbers[1]);
            srq = made;
        }
        return result;
    }

    /**
     * Starts to connect. {@link RdmaEventType#ESTABLISHED}, {@link RdmaEventType#REJECTED},
     * {@link RdmaEventType#UNREACHABLE} or {@link RdmaEventType#CONNECT_ERROR} reports the result.
     *
     * @param param the parameters for the other side
     * @throws IllegalArgumentException if the private data is too long: see {@link RdmaConnParam#privateData}
     * @throws IllegalStateException if closed, or if there is no device or no queue pair
     * @throws io.rpma.RpmaException if the route is not resolved, if the responder resources or the initiator depth
     *     exceed the limit of the device, or on soft-iWARP, with {@code ECONNREFUSED}, if nothing listens
     */
    public void connect(RdmaConnParam param) {
        qp();
        checkPrivateData("rdma_connect", param.privateDataLength(), portSpace.connectData());
        call("rdma_connect", () -> reached(Stage.CONNECTING, param.connect(object.handle())));
        FlightEvents.connection(object, false, this::peerAddr);
    }

    /**
     * Refuses private data that is too long: rdma_accept would break the queue pair before the kernel refuses the data.
     */
    private void checkPrivateData(String operation, int length, int most) {
        if (length > most && call(operation, () -> Natives.idIsInfiniBand(object.handle())) != 0) {
            throw new IllegalArgumentException(
                    operation + " takes at most " + most + " bytes of private data here, not " + length);
        }
    }

    /**
     * Accepts the request. {@link RdmaEventType#ESTABLISHED} reports the connection. An id for datagrams gets no event.
     *
     * @param param the parameters for the other side
     * @throws IllegalArgumentException if the private data is too long: see {@link RdmaConnParam#privateData}
     * @throws IllegalStateException if closed, if there is no device or no queue pair, if the request is already
     *     accepted, or if the id is not from {@link #getRequest}
     * @throws io.rpma.RpmaException if the request is already rejected, if the other side has given up, or if the
     *     responder resources or the initiator depth exceed the limit of the device; the id must then be closed
     */
    public void accept(RdmaConnParam param) {
        qp();
        checkPrivateData("rdma_accept", param.privateDataLength(), portSpace.acceptData());
        call("rdma_accept", () -> {
            checkRequest("accept");
            return reached(Stage.CONNECTING, param.accept(object.handle()));
        });
        FlightEvents.connection(object, true, this::peerAddr);
    }

    /**
     * Rejects the request. Afterwards the id can only be closed.
     *
     * @param privateData the private data for the other side: see {@link RdmaConnParam#privateData}
     * @throws IllegalArgumentException if {@code privateData} is too long
     * @throws IllegalStateException if closed, if the request is already accepted, or if the id is not from
     *     {@link #getRequest}
     * @throws io.rpma.RpmaException if the request is already rejected
     */
    public void reject(byte[] privateData) {
        byte[] data = RdmaConnParam.checkedPrivateData(privateData);
        checkPrivateData("rdma_reject", data.length, portSpace.rejectData());
        call("rdma_reject", () -> {
            checkRequest("reject");
            return Natives.idReject(object.handle(), data);
        });
    }

    /**
     * Refuses an answer if this id has no request, or has sent a request or an acceptance. After such a message, Linux
     * would take a rejection, but continue to resend the message, so that closing the id would take a minute. On an
     * iWARP device, either answer would stop the kernel: it forgets that the id waits for the other side.
     */
    private void checkRequest(String answer) {
        object.checkOpen();
        if (request == null || stage == Stage.CONNECTING) {
            throw new IllegalStateException(object + " has no request to " + answer);
        }
    }

    /**
     * Starts to disconnect. Outstanding operations complete with an error. {@link RdmaEventType#DISCONNECTED} reports
     * the end to both sides. The side that did not start the disconnection gets the event first, and answers with
     * {@code disconnect()} or {@link #close}. The side that started the disconnection gets its event after this answer.
     * After both sides have disconnected, a call does nothing. A check of the other side ({@link RdmaQp#onPeerLost})
     * ends.
     *
     * <p>A call before the connection is established breaks the queue pair, and the id must then be closed.
     *
     * @throws IllegalStateException if closed, or if neither {@link #connect} nor {@link #accept} has succeeded
     * @throws io.rpma.RpmaException if the system refuses the call
     */
    public void disconnect() {
        call("rdma_disconnect", this::disconnectOnly);
        FlightEvents.disconnection(object);
    }

    /**
     * Refuses the call if there is no connection. On a listening id, librdmacm would take a connection request as the
     * answer to the disconnection. On any other id, librdmacm would break the queue pair before the kernel refuses the
     * call.
     */
    private long disconnectOnly() {
        object.checkOpen();
        if (stage != Stage.CONNECTING) {
            throw new IllegalStateException(object + " has no connection");
        }
        RdmaQp checked = qp;
        if (checked != null) {
            // the disconnection makes a probe fail
            checked.endCheck();
        }
        return Natives.idDisconnect(object.handle());
    }

    /**
     * Waits for the next event, without a timeout.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalStateException if closed before or during the wait, or if listening
     * @throws io.rpma.RpmaException if the system fails
     */
    public RdmaEvent nextEvent() throws InterruptedException {
        return next(Waiter.FOREVER);
    }

    /**
     * Waits for the next event.
     *
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the event; empty if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed before or during the wait, or if listening
     * @throws io.rpma.RpmaException if the system fails
     */
    public Optional<RdmaEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(next(Waiter.nanos(timeout, unit)));
    }

    /**
     * Waits for the next event, and throws an exception if the event is of another type, as synchronous ids of
     * librdmacm do. The exception lacks the private data of the event, for example of a rejection. To get the private
     * data, call {@link #nextEvent(long, TimeUnit)} instead.
     *
     * @param type the expected type
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the event
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed before or during the wait, or if listening
     * @throws io.rpma.RpmaException with {@code ETIMEDOUT} if the wait times out, with {@code ECONNREFUSED} for
     *     {@link RdmaEventType#REJECTED}, and with the status for any other event, or {@code EPROTO} if the status is
     *     0; also if the system fails
     */
    public RdmaEvent awaitEvent(RdmaEventType type, long timeout, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(type, "type");
        RdmaEvent event = next(Waiter.nanos(timeout, unit));
        if (event == null) {
            throw Call.failure(
                    GET_EVENT,
                    Errno.ETIMEDOUT,
                    "no " + type + " in " + timeout + " " + unit.name().toLowerCase(Locale.ROOT));
        }
        if (event.type() != type) {
            throw unexpected(GET_EVENT, event, type);
        }
        return event;
    }

    private static RuntimeException unexpected(String operation, RdmaEvent event, RdmaEventType type) {
        return Call.failure(operation, errno(event), event + " came instead of " + type);
    }

    private static int errno(RdmaEvent event) {
        if (event.type() == RdmaEventType.REJECTED) {
            return Errno.ECONNREFUSED;
        }
        return event.status() == 0 ? Errno.EPROTO : Math.abs(event.status());
    }

    private RdmaEvent next(long nanos) throws InterruptedException {
        checkNotListening();
        return events.next(nanos);
    }

    private void checkNotListening() {
        object.checkOpen();
        if (requests != null) {
            throw new IllegalStateException(object + " listens: see getRequest()");
        }
    }

    /** The events, also of an id without a connection. */
    private final class ConnEvents extends ConnectionEvents<RdmaEvent> {
        ConnEvents() {
            super(GET_EVENT, object, control);
        }

        @Override
        protected RdmaEvent takeNative() {
            RdmaEvent event = new RdmaEvent();
            if (Call.check(GET_EVENT, Natives.idNextEvent(object.handle(), event.bytes()), object) == 0) {
                return null;
            }
            FlightEvents.connectionEvent(object, event.type());
            return event;
        }

        @Override
        protected boolean isEnd(RdmaEvent event) {
            return ENDS.contains(event.type());
        }

        @Override
        protected RuntimeException failure(String waiting, RdmaEvent event) {
            int errno = event.type() == RdmaEventType.REJECTED ? Errno.ECONNREFUSED : Errno.ENOTCONN;
            return Call.failure(waiting, errno, "the connection of " + object + " has ended: " + event);
        }

        @Override
        protected void wakeWaits() {
            RdmaQp waitedFor = qp;
            if (waitedFor != null) {
                waitedFor.wakeWaits();
            }
        }
    }

    ConnectionEvents<RdmaEvent> events() {
        return events;
    }

    /**
     * Registers a handler of the requests of this listening id with an event loop. The loop takes the requests as
     * {@link #getRequest()} does. If the handler throws an exception, the loop closes the memory regions and the
     * address handles of the request's id, and the id itself, and the registration continues. They stay open if another
     * id uses the shared receive queue of the request's id, or another thread is making an object of the id. The
     * registration ends if the shared receive queue of the attributes of {@link #createEp} is closed.
     *
     * @param loop the loop
     * @param handler accepts, rejects or closes the id of each request
     * @return the registration
     * @throws IllegalStateException if this id or the loop is closed, if not listening, or if a loop already serves the
     *     requests
     * @throws io.rpma.RpmaException if the kernel refuses to watch another descriptor
     */
    public RpmaEventLoop.Registration onRequest(RpmaEventLoop loop, RpmaEventLoop.Handler<? super RdmaId> handler) {
        return register(loop, new Requests(requestQueue(), handler));
    }

    /**
     * Registers a handler of the events of this id with an event loop.
     *
     * @param loop the loop
     * @param handler handles each event
     * @return the registration
     * @throws IllegalStateException if this id or the loop is closed, if listening, or if a loop already serves the
     *     events
     * @throws io.rpma.RpmaException if the kernel refuses to watch another descriptor
     */
    public RpmaEventLoop.Registration onEvent(RpmaEventLoop loop, RpmaEventLoop.Handler<? super RdmaEvent> handler) {
        return register(loop, new Events(handler));
    }

    private static RpmaEventLoop.Registration register(RpmaEventLoop loop, Source<?> source) {
        return Access.get().register(Objects.requireNonNull(loop, "loop"), source);
    }

    private final class Requests extends Source<RdmaId> {
        private final Resource queue;
        private final RpmaEventLoop.Handler<? super RdmaId> handler;

        /** The event of the last take; null if there was no memory for it. */
        private RdmaEvent event;

        Requests(Resource queue, RpmaEventLoop.Handler<? super RdmaId> handler) {
            super(RdmaId.this, queue);
            this.queue = queue;
            this.handler = Objects.requireNonNull(handler, "handler");
        }

        @Override
        public RdmaId take() {
            event = null;
            event = new RdmaEvent();
            return takeRequest(queue, event).orElse(null);
        }

        @Override
        public void call(RdmaId id) throws Exception {
            handler.handle(id);
        }

        /** A request that can't be taken must not lock out later requests. */
        @Override
        public boolean survives(Throwable failure) {
            return failure instanceof RpmaException || failure instanceof Error;
        }

        /** After librdmacm has taken the event, a failure rejects the request, or the event was no request. */
        @Override
        public boolean leavesItem(Throwable failure) {
            return event == null || !event.isTaken();
        }

        /** One client's failure must not lock out the others. */
        @Override
        public boolean survivesCall(RdmaId id, Throwable failure) {
            try {
                id.object.closeTree();
            } catch (RuntimeException e) {
                failure.addSuppressed(e);
            } catch (VirtualMachineError e) {
                // out of memory, or no memory to link a call; a close of the id alone needs none
                id.closeAfter(e);
                failure.addSuppressed(e);
            }
            return true;
        }
    }

    private final class Events extends Source<RdmaEvent> {
        private final RpmaEventLoop.Handler<? super RdmaEvent> handler;

        Events(RpmaEventLoop.Handler<? super RdmaEvent> handler) {
            super(RdmaId.this, object);
            this.handler = Objects.requireNonNull(handler, "handler");
        }

        /** Under the lock of {@link #listen}, which refuses a claimed id. */
        @Override
        public void claim(Object loop) {
            control.lock();
            try {
                checkNotListening();
                events.claim(loop);
            } finally {
                control.unlock();
            }
        }

        @Override
        public void release() {
            events.release();
        }

        @Override
        public RdmaEvent take() {
            return events.take();
        }

        @Override
        public boolean isBusy() {
            return events.isBusy();
        }

        @Override
        public void call(RdmaEvent event) throws Exception {
            handler.handle(event);
        }
    }

    /**
     * {@return the request of an id that {@link #getRequest} returned, with the private data of the other side; empty for any other id}
     */
    public Optional<RdmaEvent> request() {
        return Optional.ofNullable(request);
    }

    /** {@return the port space} */
    public RdmaPortSpace portSpace() {
        return portSpace;
    }

    /**
     * {@return the local address; empty if the id is not bound}
     *
     * @throws IllegalStateException if closed
     */
    public Optional<InetSocketAddress> localAddr() {
        return address(Natives::idLocalAddr);
    }

    /**
     * {@return the remote address; empty if there is none}
     *
     * @throws IllegalStateException if closed
     */
    public Optional<InetSocketAddress> peerAddr() {
        return address(Natives::idPeerAddr);
    }

    private Optional<InetSocketAddress> address(LongFunction<byte[]> getter) {
        control.lock();
        try {
            return addressNow(getter);
        } finally {
            control.unlock();
        }
    }

    private Optional<InetSocketAddress> addressNow(LongFunction<byte[]> getter) {
        byte[] bytes = getter.apply(object.handle());
        if (bytes == null) {
            object.checkOpen();
        }
        return Optional.ofNullable(SocketAddress.of(bytes));
    }

    /** Without the lock, for which the caller would wait: while librdmacm sets an address, the fact can be wrong. */
    private Object fact(String name, LongFunction<byte[]> getter) {
        return object.whileOpen(
                () -> addressNow(getter).map(address -> name + address).orElse(null));
    }

    /**
     * Creates an address handle for the other side of a datagram id.
     *
     * @param established the event {@link RdmaEventType#ESTABLISHED} of an id for {@link RdmaPortSpace#UDP}
     * @return the address handle; the caller closes it before this id
     * @throws IllegalArgumentException if {@code established} is another event
     * @throws IllegalStateException if closed or not bound to a device
     * @throws io.rpma.RpmaException if the device refuses the address handle
     */
    public RdmaAh createAh(RdmaEvent established) {
        byte[] attributes = established.ahAttr();
        if (attributes == null) {
            throw new IllegalArgumentException(established + " reports no queue pair for datagrams");
        }
        return ah("ibv_create_ah", () -> Natives.ahCreate(object.handle(), attributes));
    }

    /**
     * Creates an address handle for the sender of a datagram.
     *
     * @param completions the array with the completion of the receive
     * @param index the index of the completion
     * @param region the region of the receive
     * @param offset the offset of the receive in the region, where the header of 40 bytes is
     * @return the address handle; the caller closes it before this id
     * @throws IndexOutOfBoundsException if there is no such completion, or if the header is not inside the region
     * @throws IllegalStateException if closed or not bound to a device, if the region is closed, or if the receive
     *     failed
     * @throws io.rpma.RpmaException if the header can't be read, or the device refuses the address handle
     */
    public RdmaAh createAh(RpmaCompletions completions, int index, RdmaMr region, long offset) {
        completions.srcQp(index);
        long completion = Access.get().address(completions, index);
        long mr = RdmaMr.use(region, offset, HEADER_SIZE);
        RdmaAh sender =
                ah("ibv_create_ah_from_wc", () -> Natives.ahFromCompletion(object.handle(), completion, mr, offset));
        Reference.reachabilityFence(completions);
        return sender;
    }

    private RdmaAh ah(String operation, LongSupplier maker) {
        return RdmaAh.make(object, operation, maker);
    }

    /** Returns the maximum length of an operation on the port of this id, in bytes. The id must have a device. */
    int maxMessage() {
        if (maxMessage == 0) {
            maxMessage = (int) Call.check("ibv_query_port", Natives.idMaxMessage(object.handle()), object);
        }
        return maxMessage;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the id, with its queue pair and its shared receive queue, in any state. Has no effect if it is already
     * closed. Waits while another thread closes it. Blocks until the device has released all outstanding operations,
     * which takes seconds if the other host is dead.
     *
     * @throws IllegalStateException if a memory region or an address handle of this id is open, or if another id uses
     *     its shared receive queue; the message names the object, and nothing is closed
     * @throws io.rpma.RpmaException if the system reports a failure; the id is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(portSpace, fact("local ", Natives::idLocalAddr), fact("remote ", Natives::idPeerAddr));
    }
}
