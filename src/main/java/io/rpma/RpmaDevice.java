package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An RDMA device, which is found by an address.
 *
 * <pre>{@code
 * RpmaDevice device = RpmaDevice.local(address);
 * System.out.println(device.name() + (device.isFlushNative() ? " has native flush" : " emulates flushes by reads"));
 * }</pre>
 *
 * <p>A device needs no close: it stays open for the life of the process. Calls on a device that was removed fail. Safe
 * for use by many threads. Look-ups run one after the other.
 *
 * <p>Manual pages: rpma_utils_get_ibv_context(3), rpma_utils_ibv_context_is_odp_capable(3).
 */
public final class RpmaDevice {
    private static final String GET = "rpma_utils_get_ibv_context";

    /** librpma's look-up is not thread-safe. */
    private static final ReentrantLock LOOKUP = new ReentrantLock();

    /** The contexts that librdmacm keeps open; guarded by LOOKUP. */
    private static final Set<Long> PINNED = new HashSet<>();

    private final long context;
    private final String name;

    private RpmaDevice(long context) {
        this.context = context;
        name = new String(Natives.deviceName(context), StandardCharsets.UTF_8);
    }

    /**
     * Finds the device that has a local address.
     *
     * <p>Blocks while a host name is resolved.
     *
     * @param address an IPv4 or IPv6 address of this machine, or a host name
     * @return the device
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters
     * @throws RpmaException if no RDMA device has the address
     */
    public static RpmaDevice local(String address) {
        return find(address, false);
    }

    /**
     * Finds the local device that reaches a remote address.
     *
     * <p>Blocks while a host name is resolved, and then for at most a second while the address is resolved.
     *
     * @param address an IPv4 or IPv6 address of another machine, or a host name
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
        long context = Call.check(GET, getPinned(address, remote));
        if (context == 0) {
            throw new RpmaException(
                    GET,
                    RpmaError.INVAL,
                    0,
                    address + " is the address of no device" + reason(address),
                    "name the address of one device");
        }
        return new RpmaDevice(context);
    }

    private static String reason(String address) {
        try {
            boolean isWildcard = InetAddress.getByName(address).isAnyLocalAddress();
            return isWildcard ? ": it stands for all addresses" : ": it stands for this machine alone";
        } catch (UnknownHostException e) {
            return "";
        }
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
     * {@return whether the device supports on-demand paging, which the registration of a file of a DAX file system
     * requires} The library refuses on-demand paging on soft-RoCE: see {@link RpmaPeer#register(RpmaMemory, RpmaMrUsage...)}.
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
        return Call.check("ibv_query_device_ex", Natives.deviceIsFlushNative(context)) != 0;
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
        return Call.check("ibv_query_device_ex", Natives.deviceIsAtomicWriteNative(context)) != 0;
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
