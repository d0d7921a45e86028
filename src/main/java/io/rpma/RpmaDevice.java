// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Errno;
import io.rpma.internal.Loader;
import io.rpma.internal.Log;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * An RDMA device, which is found by an address or in the {@link #list()} of all devices.
 *
 * <pre>{@code
 * for (RpmaDevice device : RpmaDevice.list()) {
 *     System.out.println(device.name() + " " + device.addresses()
 *             + (device.isFlushNative() ? " has native flush" : " emulates flushes by reads"));
 * }
 * }</pre>
 *
 * <p>A device needs no close: it stays open for the life of the process. Safe for use by many threads. The searches of
 * {@link #local} and {@link #remote} run one after the other. The other methods do not wait for them, and do not block, except
 * {@link #nextEvent()}.
 *
 * <p>Each method except {@link #name()} asks the device anew. If the query fails, the method throws
 * {@link RpmaException}: for example, if the device was removed.
 *
 * <p>Manual pages: rpma_utils_get_ibv_context(3), rpma_utils_ibv_context_is_odp_capable(3), rdma_get_devices(3),
 * ibv_query_device_ex(3), ibv_get_async_event(3).
 */
public final class RpmaDevice {
    private static final String GET = "rpma_utils_get_ibv_context";
    private static final String LIST = "rdma_get_devices";
    private static final String QUERY = "ibv_query_device_ex";

    /** librpma's look-up is not thread-safe. */
    private static final ReentrantLock LOOKUP = new ReentrantLock();

    private static final String GET_EVENT = "ibv_get_async_event";

    /** The sources of the events, which stay open. */
    private static final Map<Long, Resource> EVENTS = new ConcurrentHashMap<>();

    private static final ObjectKind EVENTS_KIND = new ObjectKind("none") {
        @Override
        protected long delete(Resource object) {
            throw new AssertionError(object);
        }
    };

    /** The contexts that librdmacm keeps open; guarded by LOOKUP. */
    private static final Set<Long> PINNED = new HashSet<>();

    private final long context;
    private final String name;

    private RpmaDevice(long context) {
        this.context = context;
        name = new String(Natives.deviceName(context), StandardCharsets.UTF_8);
    }

    /**
     * {@return all RDMA devices of this process that librdmacm can use; empty if there is none}
     *
     * <p>A device that {@link #local} finds is equal to one of the list. A device without its file in
     * {@code /dev/infiniband}, for example in a container, is not in the list. Neither is a device that was removed.
     * The method opens all devices, which stay open. So does {@link #local} if no device has the address.
     *
     * @throws RpmaException if there are devices, and librdmacm can't open any of them, for example for lack of
     *     permissions. Some releases of librdmacm list no device if they can't open one of several. The exception names
     *     the devices that can't be opened.
     */
    public static List<RpmaDevice> list() {
        Loader.ensureLoaded();
        long[] contexts = Natives.deviceList();
        if (contexts == null) {
            throw Call.failure(LIST, Result.PROVIDER);
        }
        Log.deliver();
        return LongStream.of(contexts).mapToObj(RpmaDevice::new).toList();
    }

    /**
     * Finds the device that has a local address.
     *
     * <p>Blocks while a host name is resolved.
     *
     * @param address an IPv4 or IPv6 address of this machine, or a host name, of which only the first address is tried;
     *     a link-local address needs its interface, as in {@code fe80::1%eth0}
     * @return the device
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters
     * @throws RpmaException if no RDMA device has the address, as none has 127.0.0.1. The message has the addresses of
     *     the devices.
     */
    public static RpmaDevice local(String address) {
        return find(address, false);
    }

    /**
     * Finds the local device that reaches a remote address.
     *
     * <p>Blocks while a host name is resolved, and then for at most a second while the address is resolved.
     *
     * @param address an IPv4 or IPv6 address of another machine, or a host name, of which only the first address is tried
     * @return the device
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters
     * @throws RpmaException if no RDMA device reaches the address
     */
    public static RpmaDevice remote(String address) {
        return find(address, true);
    }

    private static RpmaDevice find(String address, boolean remote) {
        Check.address(address);
        Loader.ensureLoaded();
        long context = getPinned(address, remote);
        if (context < 0) {
            int errno = Natives.lastErrno();
            RpmaException failure = (RpmaException) Call.failure(GET, context);
            throw !remote && isOfNoDevice(errno, failure.detail()) ? failure.with(advice()) : failure;
        }
        Log.deliver();
        if (context == 0) {
            throw noDevice(address);
        }
        return new RpmaDevice(context);
    }

    private static boolean isOfNoDevice(int errno, String detail) {
        // EINVAL is that of a link-local address without its interface
        return List.of(Errno.ENODEV, Errno.EADDRNOTAVAIL).contains(errno)
                || (errno == Errno.EINVAL && detail.contains("rdma_bind_addr("));
    }

    /**
     * Returns the advice for a search that has found no device. It must not replace the failure of the search by its
     * own.
     */
    private static String advice() {
        try {
            List<RpmaDevice> devices = list();
            if (devices.isEmpty()) {
                return "there is no RDMA device in this network namespace: see 'rdma link', and /dev/infiniband in a container";
            }
            String addresses = devices.stream()
                    .flatMap(device -> device.addresses().stream()
                            .map(address -> address.getHostAddress() + " (" + device.name + ")"))
                    .collect(Collectors.joining(", "));
            return addresses.isEmpty()
                    ? "no RDMA device has an address in this network namespace: " + devices
                    : "name one of " + addresses;
        } catch (RpmaException e) {
            return "the devices can't be listed: " + e.getMessage();
        }
    }

    /** Returns the failure for an address to which librdmacm binds an id without a device. */
    private static RuntimeException noDevice(String address) {
        String reason = "";
        try {
            InetAddress known = InetAddress.getByName(address);
            if (!known.isAnyLocalAddress() && !known.isLoopbackAddress()) {
                return Call.failure(GET, Errno.ENXIO, address + " belongs to a device that librdmacm does not know");
            }
            reason = known.isAnyLocalAddress() ? ": it stands for all addresses" : ": it stands for this machine alone";
        } catch (UnknownHostException e) {
            // the name has disappeared meanwhile
        }
        String detail = address + " is the address of no device" + reason;
        return new RpmaException(GET, RpmaError.INVAL, 0, detail, advice());
    }

    private static long getPinned(String address, boolean remote) {
        LOOKUP.lock();
        try {
            long context = Natives.deviceGet(address, remote);
            return context <= 0 ? context : pin(context);
        } finally {
            LOOKUP.unlock();
        }
    }

    private static long pin(long context) {
        if (PINNED.contains(context)) {
            return context;
        }
        long result = Natives.devicePin(context);
        if (result < 0) {
            return result;
        }
        PINNED.add(context);
        return context;
    }

    /**
     * {@return whether the device supports on-demand paging, which the registration of a file of a DAX file system requires}
     * The library refuses on-demand paging on soft-RoCE: see {@link RpmaPeer#register(RpmaMemory, RpmaMrUsage...)}.
     *
     * @throws RpmaException if the query of the device fails
     */
    public boolean isOdpCapable() {
        return Call.check("rpma_utils_ibv_context_is_odp_capable", Natives.deviceIsOdpCapable(context)) != 0;
    }

    /**
     * {@return whether flushes of connections through this device are native operations; otherwise reads emulate them}
     *
     * <p>The other side executes a native flush itself: after the completion of a flush of
     * {@link RpmaFlushType#PERSISTENT} to persistent memory, the bytes are persistent. An emulated flush makes the
     * bytes visible. It makes them persistent only if the platform of the other side writes them to persistent memory
     * directly, bypassing the caches of its processors: see {@link RpmaPeerCfg#setDirectWriteToPmem}.
     *
     * <p>A flush is native if the device of the side that posts it has native flush, and librpma was built with support
     * for it. The region must then be registered through such a device, too.
     *
     * @throws RpmaException if the query of the device fails
     */
    public boolean isFlushNative() {
        return Call.check(QUERY, Natives.deviceIsFlushNative(context)) != 0;
    }

    /**
     * {@return whether atomic writes of connections through this device are native operations; otherwise writes of 8
     * bytes emulate them}
     *
     * <p>An emulated atomic write is atomic if the other side's device stores 8 aligned bytes at once, which the verbs
     * do not guarantee.
     *
     * <p>An atomic write is native if the device of the side that posts it has native atomic write, and librpma was
     * built with support for it. The device of the other side must have it too.
     *
     * @throws RpmaException if the query of the device fails
     */
    public boolean isAtomicWriteNative() {
        return Call.check(QUERY, Natives.deviceIsAtomicWriteNative(context)) != 0;
    }

    /**
     * {@return whether the transport is iWARP, and not InfiniBand or RoCE}
     *
     * <p>A completion of an iWARP device means less: see {@link RpmaConn}. Most iWARP devices have no immediate data,
     * no atomic operations and no datagrams, and refuse the post or the queue pair with an {@link RpmaException}.
     *
     * @throws RpmaException if the query of the device fails
     */
    public boolean isIwarp() {
        return identity()[4].equals("1");
    }

    /**
     * {@return whether the device has the atomic operations of {@code io.rpma.rdmacm}: compare and swap, and fetch and
     * add}
     *
     * @throws RpmaException if the query of the device fails
     */
    public boolean isAtomicCapable() {
        return identity()[5].equals("1");
    }

    /**
     * {@return the ports, in the order of their numbers}
     *
     * <p>To find the addresses of the ports, the method binds an id of librdmacm to each address of this machine.
     */
    public List<RpmaPort> ports() {
        return RpmaPort.of(context, Integer.parseInt(identity()[0]));
    }

    /**
     * {@return the addresses of all ports: the addresses of this machine for which {@link #local} finds this device}
     *
     * <p>See {@link RpmaPort#addresses()}.
     */
    public List<InetAddress> addresses() {
        return ports().stream().flatMap(port -> port.addresses().stream()).toList();
    }

    /**
     * Waits for the next event of the device, without a timeout.
     *
     * <p>The process gets each event of a device once, whichever thread, loop or {@code RpmaDevice} takes it. Events
     * since the start of the process are kept until they are taken.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if an {@link RpmaEventLoop} serves the events
     * @throws RpmaException if the system fails, for example because the device is removed
     */
    public RpmaDeviceEvent nextEvent() throws InterruptedException {
        return next(Waiter.FOREVER);
    }

    /**
     * Waits for the next event of the device, as {@link #nextEvent()}.
     *
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the event; empty if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if an {@link RpmaEventLoop} serves the events
     * @throws RpmaException if the system fails, for example because the device is removed
     */
    public Optional<RpmaDeviceEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(next(Waiter.nanos(timeout, unit)));
    }

    private RpmaDeviceEvent next(long nanos) throws InterruptedException {
        long start = Waiter.start(nanos);
        while (Waiter.await(GET_EVENT, events(), Waiter.left(nanos, start))) {
            RpmaDeviceEvent event = takeEvent();
            if (event != null) {
                return event;
            }
        }
        return null;
    }

    /** Takes an event. Returns null if there is none. */
    RpmaDeviceEvent takeEvent() {
        long[] values = new long[4];
        int result = Natives.deviceNextEvent(events().handle(), values);
        if (result == Result.NO_EVENT) {
            return null;
        }
        Call.check(GET_EVENT, result, events());
        return RpmaDeviceEvent.of(values);
    }

    /** The object with the descriptor of the events. */
    Resource events() {
        return EVENTS.computeIfAbsent(context, RpmaDevice::openEvents);
    }

    private static Resource openEvents(long context) {
        Resource events = new Resource(RpmaDevice.class, "RpmaDevice events", EVENTS_KIND);
        events.make(GET_EVENT, () -> Natives.deviceEvents(context));
        return events;
    }

    /**
     * {@return the limits of the device, by their names in {@code struct ibv_device_attr}, such as {@code max_qp}}
     *
     * <p>Exceptions use the same names for the limits that were reached, and {@code ibv_devinfo -v} prints them. The
     * names are {@code max_pd}, {@code max_mr}, {@code max_mr_size} (bytes), {@code max_cq}, {@code max_cqe},
     * {@code max_qp}, {@code max_qp_wr}, {@code max_sge}, {@code max_sge_rd}, {@code max_qp_rd_atom},
     * {@code max_qp_init_rd_atom}, {@code max_srq}, {@code max_srq_wr}, {@code max_srq_sge} and {@code max_ah}, in this
     * order. The map can't be modified.
     */
    public Map<String, Long> limits() {
        Map<String, Long> limits = new LinkedHashMap<>();
        String[] words = text(QUERY, Natives.deviceLimits(context)).split(" ");
        for (String word : List.of(words).subList(1, words.length)) {
            String[] limit = word.split("=");
            limits.put(limit[0], Long.valueOf(limit[1]));
        }
        return Collections.unmodifiableMap(limits);
    }

    /** {@return the number of the vendor; 0xffffff for soft-RoCE, 0x626d74 for soft-iWARP} */
    public int vendorId() {
        return Integer.parseUnsignedInt(identity()[1]);
    }

    /** {@return the vendor's number of the part} */
    public int vendorPartId() {
        return Integer.parseUnsignedInt(identity()[2]);
    }

    /** {@return the GUID of the node, for example {@code 506b:4b03:00c0:1f2a}} */
    public String nodeGuid() {
        return identity()[3].replaceAll("(.{4})(?=.)", "$1:");
    }

    /** {@return the version of the firmware, or an empty text} */
    public String firmwareVersion() {
        return identity()[6];
    }

    private String[] identity() {
        return text(QUERY, Natives.deviceIdentity(context)).split(" ", 7);
    }

    /** Returns the text that a native method has returned, which is null if the function of C has failed. */
    static String text(String operation, byte[] text) {
        if (text == null) {
            throw Call.failure(operation, Result.PROVIDER);
        }
        Log.deliver();
        return new String(text, StandardCharsets.UTF_8);
    }

    /** The maximum length of an operation that every port of the device can transfer, in bytes. */
    int maxMessage() {
        return Natives.deviceMaxMessage(context);
    }

    /** {@return the name of the device, for example {@code mlx5_0}} */
    public String name() {
        return name;
    }

    long context() {
        return context;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RpmaDevice && ((RpmaDevice) other).context == context;
    }

    @Override
    public int hashCode() {
        return Objects.hash(context);
    }

    @Override
    public String toString() {
        return "RpmaDevice[" + name + "]";
    }
}
