package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.internal.Access;
import io.rpma.internal.Call;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * One end of a connection, or what listens for them: {@code struct rdma_cm_id}.
 *
 * <p>What takes time only begins with a call: {@link #resolveAddr}, {@link #resolveRoute}, {@link #connect}, {@link #accept}
 * and {@link #disconnect}. How it ends is told by {@link #nextEvent} or {@link #awaitEvent}, which have to be called for it
 * to go on: the other side is established only after this one has taken its event.
 *
 * <p>To connect: {@link #create}, {@link #resolveAddr}, {@link #resolveRoute} (or {@link #createEp}, which does all three),
 * {@link #createQp}, {@link #connect}. To be connected to: {@link #create}, {@link #bindAddr} (or {@link #createEp}),
 * {@link #listen}, {@link #getRequest}, and on what that returns {@link #createQp} and {@link #accept}, or {@link #reject}.
 *
 * <p>Safe for use by many threads. Closing wakes the threads that wait, and throws {@link IllegalStateException} while a
 * memory region or address handle of this id is open, or another id uses its shared receive queue.
 *
 * <p>Manual pages: rdma_create_id(3), rdma_create_ep(3), rdma_bind_addr(3), rdma_listen(3), rdma_get_request(3),
 * rdma_resolve_addr(3), rdma_resolve_route(3), rdma_create_qp(3), rdma_create_srq(3), rdma_connect(3), rdma_accept(3),
 * rdma_reject(3), rdma_disconnect(3), rdma_get_cm_event(3), rdma_destroy_id(3).
 */
public final class RdmaId implements AutoCloseable {
    private static final Access ACCESS = Access.get();
    private static final String GET_REQUEST = "rdma_get_request";
    private static final String GET_EVENT = "rdma_get_cm_event";
    private static final int ECONNREFUSED = 111;
    private static final int ETIMEDOUT = 110;
    private static final int EPROTO = 71;

    /** Of {@code struct ibv_grh}, before a datagram. */
    private static final int HEADER_SIZE = 40;

    private final NativeObject object;
    private final RdmaPortSpace portSpace;
    private final RdmaEvent request;

    /** What {@link #getRequest} makes queue pairs with, or null. */
    private final RdmaQpInitAttr requestAttr;

    /** librdmacm changes an id in all calls but posts and polls, without a lock; none of them blocks. */
    private final ReentrantLock control = new ReentrantLock();

    /** Whether a request has been sent, or one that came has been accepted; under the lock. */
    private boolean connecting;

    private volatile RdmaQp qp;
    private volatile RdmaSrq srq;
    private volatile NativeObject requests;

    /** The place among those who use the shared receive queue of another id, or null. */
    private NativeObject srqUse;

    /** 0 until it is asked for. */
    private volatile int maxMessage;

    /** What close has to free. */
    private long retired;

    /** Made with the id: closing after a failure for want of memory must not fail too. */
    private final LongUnaryOperator destroy = ignored -> Natives.idDestroy(retired);

    private RdmaId(RdmaPortSpace portSpace, RdmaEvent request, RdmaQpInitAttr requestAttr) {
        this.portSpace = portSpace;
        this.request = request;
        this.requestAttr = requestAttr;
        object = new NativeObject(this, "RdmaId");
    }

    /**
     * Creates an id, on an event channel of its own.
     *
     * @param portSpace what it is for
     * @return the id, to be closed
     * @throws io.rpma.RpmaException if there is no RDMA device, or the system refuses
     */
    public static RdmaId create(RdmaPortSpace portSpace) {
        int space = portSpace.value();
        RdmaId id = new RdmaId(portSpace, null, null);
        id.object.make("rdma_create_id", () -> Natives.idCreate(space));
        return id;
    }

    /**
     * Creates an id that can connect at once, or one that can listen at once.
     *
     * <p>Blocks for the resolution of the address and the route, for at most 2 seconds each, which nothing ends before; closing
     * {@code info} waits as long. Use {@link #create} for other timeouts, and for waits that end by interruption.
     *
     * @param info where to connect to, or to listen on; may be closed afterwards
     * @param attr what to make a queue pair with, for this id or, if {@code info} is to listen on, for those that
     *     {@link #getRequest} returns; null for none
     * @return the id, to be closed
     * @throws IllegalStateException if {@code info} or the shared receive queue of {@code attr} is closed
     * @throws io.rpma.RpmaException if the address can't be resolved or bound to, or the queue pair can't be made
     */
    public static RdmaId createEp(RdmaAddrInfo info, RdmaQpInitAttr attr) {
        RdmaPortSpace portSpace = info.portSpace();
        boolean passive = info.isPassive();
        RdmaId id = new RdmaId(portSpace, null, passive && attr != null ? new RdmaQpInitAttr(attr) : null);
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

    /** Closes this id if the queue pair can't be made, which rejects the request that it is for. */
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
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private long call(String operation, LongSupplier call) {
        return Call.check(operation, Call.locked(control, call), object);
    }

    /**
     * Binds the id to an address of this machine, and to its device.
     *
     * @param address an address of this machine, or of all of its addresses; port 0 for a free one
     * @throws IllegalArgumentException if the host name of the address is unknown
     * @throws IllegalStateException if closed
     * @throws io.rpma.RpmaException if the address is not of an RDMA device, or is in use, or the id is bound already
     */
    public void bindAddr(InetSocketAddress address) {
        byte[] bytes = SocketAddress.toBytes(address);
        call("rdma_bind_addr", () -> Natives.idBindAddr(object.handle(), bytes));
    }

    /**
     * Begins to resolve an address; {@link RdmaEventType#ADDR_RESOLVED} or {@link RdmaEventType#ADDR_ERROR} tells the end.
     *
     * @param source the address of this machine to connect from, or null for that of the route
     * @param destination the address to connect to
     * @param timeoutMs for how long, in milliseconds
     * @throws IllegalArgumentException if the host name of an address is unknown, or the timeout is negative
     * @throws IllegalStateException if closed
     * @throws io.rpma.RpmaException if an address can't be used, or is resolved already
     */
    public void resolveAddr(InetSocketAddress source, InetSocketAddress destination, int timeoutMs) {
        byte[] from = source == null ? new byte[0] : SocketAddress.toBytes(source);
        byte[] to = SocketAddress.toBytes(destination);
        checkTimeout(timeoutMs);
        call("rdma_resolve_addr", () -> Natives.idResolveAddr(object.handle(), from, to, timeoutMs));
    }

    /**
     * Begins to resolve the route; {@link RdmaEventType#ROUTE_RESOLVED} or {@link RdmaEventType#ROUTE_ERROR} tells the end.
     *
     * @param timeoutMs for how long, in milliseconds
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if closed, or the address is not resolved yet
     * @throws io.rpma.RpmaException if the route is resolved already
     */
    public void resolveRoute(int timeoutMs) {
        checkTimeout(timeoutMs);
        call("rdma_resolve_route", () -> Natives.idResolveRoute(object.handle(), timeoutMs));
    }

    private static void checkTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeoutMs);
        }
    }

    /**
     * Begins to listen for requests; {@link #getRequest} takes them. No thread may wait for events of the id meanwhile: it would
     * not be woken before the id is closed.
     *
     * @param backlog how many may wait, 0 for as many as the system allows
     * @throws IllegalArgumentException if {@code backlog} is negative
     * @throws IllegalStateException if closed, or listening already
     * @throws io.rpma.RpmaException if another id listens on the address and port, or this one connects
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
        NativeObject listened = object.part("requests");
        long result = Natives.idListen(object.handle(), backlog);
        if (result > 0) {
            listened.madeWithWhole(result);
            requests = listened;
        }
        return result;
    }

    /**
     * Waits without end for the next request.
     *
     * @return an id for the request, to be accepted or rejected, and closed; independent of this one
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if closed, before or while waiting, or not listening
     * @throws io.rpma.RpmaException if the id or its queue pair can't be made, and the request is rejected; or if another event
     *     came, such as {@link RdmaEventType#DEVICE_REMOVAL}; this id goes on
     */
    public RdmaId getRequest() throws InterruptedException {
        return nextRequest(Waiter.FOREVER).orElseThrow();
    }

    /**
     * Waits for the next request.
     *
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return an id for the request, to be accepted or rejected, and closed, independent of this one; empty if the time is up
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed, before or while waiting, or not listening
     * @throws io.rpma.RpmaException if the id or its queue pair can't be made, and the request is rejected; or if another event
     *     came, such as {@link RdmaEventType#DEVICE_REMOVAL}; this id goes on
     */
    public Optional<RdmaId> getRequest(long timeout, TimeUnit unit) throws InterruptedException {
        return nextRequest(Waiter.nanos(timeout, unit));
    }

    private Optional<RdmaId> nextRequest(long nanos) throws InterruptedException {
        NativeObject queue = requests;
        if (queue == null) {
            object.checkOpen();
            throw new IllegalStateException(object + " does not listen");
        }
        long start = System.nanoTime();
        while (Waiter.await(GET_REQUEST, queue, Waiter.left(nanos, start))) {
            Optional<RdmaId> taken = takeRequest(queue);
            if (taken.isPresent()) {
                return taken;
            }
        }
        return Optional.empty();
    }

    /** Takes a request, if there is one: another thread may have been first. */
    private Optional<RdmaId> takeRequest(NativeObject queue) {
        RdmaEvent event = new RdmaEvent();
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
     * Makes the queue pair, with which receives can be posted at once.
     *
     * @param attr what it is asked for
     * @return the queue pair, closed with this id
     * @throws IllegalStateException if closed, or without a device yet, or if there is a queue pair already, or the shared
     *     receive queue of {@code attr} is closed
     * @throws io.rpma.RpmaException if the device refuses, mostly because it is asked for too much
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
        NativeObject use = foreign ? new NativeObject(this, "queue pair of " + object, shared.owner()) : null;
        RdmaQp made = new RdmaQp(object, portSpace == RdmaPortSpace.UDP, shared != null || srq != null);
        long[] queues = new long[2];
        if (foreign) {
            use.begin();
        }
        long result = Result.CLOSED;
        try {
            result = Natives.qpCreate(object.handle(), numbers, sigAll, shared == null ? 0 : shared.handle(), queues);
            if (result == 0) {
                made.made(numbers, queues);
                srqUse = use;
                qp = made;
            }
            return result;
        } finally {
            if (result != 0 && foreign) {
                use.endMaking();
            }
        }
    }

    /**
     * {@return the queue pair; closed if this id is}
     *
     * @throws IllegalStateException if there is none
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
     * Makes a shared receive queue, which the queue pair of this id uses then, and others may.
     *
     * @param maxWr how many receives it takes, at least 1
     * @param maxSge of how many parts a receive can consist, 1 to {@link RdmaSgeList#MAX_CAPACITY}
     * @return the queue, closed with this id
     * @throws IllegalArgumentException if a number is out of range
     * @throws IllegalStateException if closed, or without a device yet, or if there is a shared receive queue or a queue
     *     pair already
     * @throws io.rpma.RpmaException if the device refuses, mostly because it is asked for too much
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
     * Begins to connect; {@link RdmaEventType#ESTABLISHED} or {@link RdmaEventType#REJECTED}, {@link RdmaEventType#UNREACHABLE}
     * or {@link RdmaEventType#CONNECT_ERROR} tells the end.
     *
     * @param param what the other side is told
     * @throws IllegalArgumentException if the private data is too long: see {@link RdmaConnParam#privateData}
     * @throws IllegalStateException if closed, or without a device or a queue pair
     * @throws io.rpma.RpmaException if there is no route yet, or the depths are beyond what the device has
     */
    public void connect(RdmaConnParam param) {
        qp();
        checkPrivateData("rdma_connect", param.privateDataLength(), portSpace.connectData());
        call("rdma_connect", () -> connecting(param.connect(object.handle())));
    }

    /** After more rdma_accept would break the queue pair before the system refuses. */
    private void checkPrivateData(String operation, int length, int most) {
        if (length > most && call(operation, () -> Natives.idIsInfiniBand(object.handle())) != 0) {
            throw new IllegalArgumentException(
                    operation + " takes at most " + most + " bytes of private data here, not " + length);
        }
    }

    private long connecting(long result) {
        connecting |= result == 0;
        return result;
    }

    /**
     * Accepts the request; {@link RdmaEventType#ESTABLISHED} tells the end, except of an id for datagrams.
     *
     * @param param what the other side is told
     * @throws IllegalArgumentException if the private data is too long: see {@link RdmaConnParam#privateData}
     * @throws IllegalStateException if closed, or without a device or a queue pair
     * @throws io.rpma.RpmaException if there is no request, the other side has given up, or the depths are beyond what the
     *     device has; the id has to be closed then
     */
    public void accept(RdmaConnParam param) {
        qp();
        checkPrivateData("rdma_accept", param.privateDataLength(), portSpace.acceptData());
        call("rdma_accept", () -> connecting(param.accept(object.handle())));
    }

    /**
     * Rejects the request. The id has to be closed then.
     *
     * @param privateData what the other side is told: see {@link RdmaConnParam#privateData}
     * @throws IllegalArgumentException if {@code privateData} is too long
     * @throws IllegalStateException if closed, or accepted already, or not from {@link #getRequest}
     * @throws io.rpma.RpmaException if the request is rejected already
     */
    public void reject(byte[] privateData) {
        byte[] data = RdmaConnParam.checkedPrivateData(privateData);
        checkPrivateData("rdma_reject", data.length, portSpace.rejectData());
        call("rdma_reject", () -> rejectRequest(data));
    }

    /** Of what has been sent and waits for an answer, Linux would go on to wait: closing would take a minute. */
    private long rejectRequest(byte[] data) {
        object.checkOpen();
        if (request == null || connecting) {
            throw new IllegalStateException(object + " has no request to reject");
        }
        return Natives.idReject(object.handle(), data);
    }

    /**
     * Begins to disconnect: what is posted and not done completes with an error. {@link RdmaEventType#DISCONNECTED} tells
     * the end, to both sides. Does nothing if that has come already. Before the connection is established, its queue pair
     * is broken: the id has to be closed.
     *
     * @throws IllegalStateException if closed, or nothing has been connected or accepted
     * @throws io.rpma.RpmaException if the system refuses
     */
    public void disconnect() {
        call("rdma_disconnect", this::disconnectOnly);
    }

    /**
     * Of a listener librdmacm would take a request for the answer, and of others break the queue pair before the system says
     * that there is no connection.
     */
    private long disconnectOnly() {
        object.checkOpen();
        if (!connecting) {
            throw new IllegalStateException(object + " has no connection");
        }
        return Natives.idDisconnect(object.handle());
    }

    /**
     * Waits without end for the next event.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if closed, before or while waiting, or listening
     * @throws io.rpma.RpmaException if the system fails
     */
    public RdmaEvent nextEvent() throws InterruptedException {
        return next(Waiter.FOREVER);
    }

    /**
     * Waits for the next event.
     *
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the event; empty if the time is up
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed, before or while waiting, or listening
     * @throws io.rpma.RpmaException if the system fails
     */
    public Optional<RdmaEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(next(Waiter.nanos(timeout, unit)));
    }

    /**
     * Waits for an event, and takes any other that comes for a failure, as librdmacm does for synchronous ids. Where that one's
     * private data matters, as a rejection's may, use {@link #nextEvent(long, TimeUnit)}.
     *
     * @param type what is to come
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the event
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if closed, before or while waiting, or listening
     * @throws io.rpma.RpmaException with {@code ETIMEDOUT} if the time is up, {@code ECONNREFUSED} if
     *     {@link RdmaEventType#REJECTED} came, else with the status of what came, or {@code EPROTO} where that is 0
     */
    public RdmaEvent awaitEvent(RdmaEventType type, long timeout, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(type, "type");
        RdmaEvent event = next(Waiter.nanos(timeout, unit));
        if (event == null) {
            throw Call.failure(
                    GET_EVENT,
                    ETIMEDOUT,
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
            return ECONNREFUSED;
        }
        return event.status() == 0 ? EPROTO : Math.abs(event.status());
    }

    private RdmaEvent next(long nanos) throws InterruptedException {
        object.checkOpen();
        if (requests != null) {
            throw new IllegalStateException(object + " listens: see getRequest()");
        }
        RdmaEvent event = new RdmaEvent();
        LongSupplier taking = () -> Natives.idNextEvent(object.handle(), event.bytes());
        long start = System.nanoTime();
        while (Waiter.await(GET_EVENT, object, Waiter.left(nanos, start))) {
            if (call(GET_EVENT, taking) > 0) {
                return event;
            }
        }
        return null;
    }

    /**
     * {@return the request that {@link #getRequest} returned this id for, with the other side's private data; empty for other
     * ids}
     */
    public Optional<RdmaEvent> request() {
        return Optional.ofNullable(request);
    }

    /** {@return what it is for} */
    public RdmaPortSpace portSpace() {
        return portSpace;
    }

    /**
     * {@return this side's address; empty if it is not bound yet}
     *
     * @throws IllegalStateException if closed
     */
    public Optional<InetSocketAddress> localAddr() {
        return address(Natives::idLocalAddr);
    }

    /**
     * {@return the other side's address; empty if there is none yet}
     *
     * @throws IllegalStateException if closed
     */
    public Optional<InetSocketAddress> peerAddr() {
        return address(Natives::idPeerAddr);
    }

    private Optional<InetSocketAddress> address(LongFunction<byte[]> getter) {
        byte[] bytes;
        control.lock();
        try {
            bytes = getter.apply(object.handle());
        } finally {
            control.unlock();
        }
        if (bytes == null) {
            object.checkOpen();
        }
        return Optional.ofNullable(SocketAddress.of(bytes));
    }

    /**
     * Makes an address handle for the other side of a datagram id.
     *
     * @param established the event {@link RdmaEventType#ESTABLISHED} of an id for {@link RdmaPortSpace#UDP}
     * @return the handle, to be closed before this id
     * @throws IllegalArgumentException if the event is another
     * @throws IllegalStateException if closed, or without a device
     * @throws io.rpma.RpmaException if the device refuses
     */
    public RdmaAh createAh(RdmaEvent established) {
        byte[] attributes = established.ahAttr();
        if (attributes == null) {
            throw new IllegalArgumentException(established + " tells of no queue pair for datagrams");
        }
        return ah("ibv_create_ah", () -> Natives.ahCreate(object.handle(), attributes));
    }

    /**
     * Makes an address handle for the sender of a datagram.
     *
     * @param completions that of the receive
     * @param index of the completion
     * @param region where the datagram arrived
     * @param offset of its receive in the region: 40 bytes for the header are there
     * @return the handle, to be closed before this id
     * @throws IndexOutOfBoundsException if there is no such completion, or the header is outside of the region
     * @throws IllegalStateException if closed, or without a device, or the region is closed, or the completion failed
     * @throws io.rpma.RpmaException if the device refuses
     */
    public RdmaAh createAh(RpmaCompletions completions, int index, RdmaMr region, long offset) {
        completions.srcQp(index);
        long completion = ACCESS.address(completions, index);
        long mr = RdmaMr.use(region, offset, HEADER_SIZE);
        RdmaAh sender =
                ah("ibv_create_ah_from_wc", () -> Natives.ahFromCompletion(object.handle(), completion, mr, offset));
        Reference.reachabilityFence(completions);
        return sender;
    }

    private RdmaAh ah(String operation, LongSupplier maker) {
        return RdmaAh.make(object, operation, maker);
    }

    /** The length of the longest operation that the port of this id transfers, in bytes; for an id that has a device. */
    int maxMessage() {
        if (maxMessage == 0) {
            maxMessage = (int) Call.check("ibv_query_port", Natives.idMaxMessage(object.handle()), object);
        }
        return maxMessage;
    }

    NativeObject object() {
        return object;
    }

    /**
     * Closes the id with its queue pair and shared receive queue, in any state; does nothing if it is closed already. Blocks
     * until the device has let go of what is under way, for seconds where the other host is gone.
     *
     * @throws IllegalStateException if a region or an address handle of this id is open, or another id uses its shared receive
     *     queue; the message names it, and nothing is closed
     * @throws io.rpma.RpmaException if the system reports a failure; the id is closed all the same
     */
    @Override
    public void close() {
        if (markClosed()) {
            object.endUses();
            retire();
            // without the lock: the kernel may take its time, and whoever waits for the lock is to find the id closed
            destroy();
        }
    }

    private boolean markClosed() {
        control.lock();
        try {
            return object.markClosed();
        } finally {
            control.unlock();
        }
    }

    /** Ends all use of the id and of its queues. */
    private void retire() {
        control.lock();
        try {
            retired = Natives.idRetire(
                    object.handle(),
                    requests == null ? 0 : requests.handle(),
                    qp == null ? 0 : qp.sendQueue(),
                    qp == null ? 0 : qp.recvQueue(),
                    srq == null ? 0 : srq.handle());
        } finally {
            control.unlock();
        }
    }

    private void destroy() {
        try {
            object.free("rdma_destroy_id", destroy);
        } finally {
            if (srqUse != null) {
                srqUse.endMaking();
            }
        }
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
