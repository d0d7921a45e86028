package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An RDMA device, found by an address.
 *
 * <p>It needs no closing: devices stay open for the life of the process, also one that is removed, whose calls fail then.
 * Safe for use by many threads; look-ups are made one after the other.
 *
 * <p>Manual pages: rpma_utils_get_ibv_context(3), rpma_utils_ibv_context_is_odp_capable(3).
 */
public final class RpmaDevice {
    private static final String GET = "rpma_utils_get_ibv_context";

    /** The look-up is not thread-safe. */
    private static final ReentrantLock LOOKUP = new ReentrantLock();

    /** The contexts that librdmacm has been told to keep; guarded by LOOKUP. */
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
     * <p>Blocks for the resolution of a host name.
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
     * Finds the local device through which a remote address is reached.
     *
     * <p>Blocks for the resolution of a host name and, for at most a second, of the address.
     *
     * @param address an IPv4 or IPv6 address of another machine, or a host name
     * @return the device
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters
     * @throws RpmaException if the address is not reached through an RDMA device
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
                    address + " is the address of no device: it stands for all addresses, or for this machine alone",
                    "name the address of one device");
        }
        return new RpmaDevice(context);
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
     * {@return whether the device can register memory on demand, as a file of a DAX file system needs}
     *
     * @throws RpmaException if the device does not answer
     */
    public boolean isOdpCapable() {
        return Call.check("rpma_utils_ibv_context_is_odp_capable", Natives.deviceIsOdpCapable(context)) != 0;
    }

    /**
     * {@return whether flushes of connections through this device are native, an operation of their own, or emulated by reads}
     *
     * <p>The other side carries out a native flush itself: once a flush of {@link RpmaFlushType#PERSISTENT} to persistent memory
     * has completed, the bytes are persistent. An emulated one makes them visible, and persistent only if the other side's
     * platform writes them to persistent memory past its processors' caches: see {@link RpmaPeerCfg#setDirectWriteToPmem}.
     *
     * <p>A flush is native if the device of the side that posts it has native flush and librpma was built with it. The regions
     * that it flushes must then be registered through such a device, too.
     *
     * @throws RpmaException if the device does not answer
     */
    public boolean isFlushNative() {
        return Call.check("ibv_query_device_ex", Natives.deviceIsFlushNative(context)) != 0;
    }

    /** The length of the longest operation that all ports of the device transfer, in bytes. */
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
