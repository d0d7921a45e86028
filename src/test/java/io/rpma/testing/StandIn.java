// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

/**
 * The device inside this process, {@code src/test/c/standin}, for tests with the tag {@code stand-in}: makes calls fail
 * or block.
 *
 * <p>A call is named by its function, such as {@code ibv_reg_mr}, or by the command that librdmacm writes to the
 * kernel, such as {@code ucma:DESTROY_ID}. With {@code siw:post_send}, {@code ibv_post_send} reports success if a queue
 * takes a part of the work requests. With {@code rxe:post_send}, it fails after the queue has taken them all.
 */
public final class StandIn implements AutoCloseable {
    static {
        String library = System.getenv("LD_PRELOAD");
        if (library == null || !library.contains("libstandin")) {
            throw new IllegalStateException("not on the stand-in: run 'mvn surefire:test@stand-in'");
        }
        // the library is loaded already, but the JVM does not know its natives yet
        System.load(library.substring(library.lastIndexOf(':') + 1));
    }

    private StandIn() {}

    /** Removes all faults. Closing the result removes the faults set since then. */
    public static StandIn open() {
        clearFaults();
        return new StandIn();
    }

    /** Makes the next calls fail with an errno. */
    public StandIn fail(String call, int times, int errno) {
        addFault(call, times, errno, false);
        return this;
    }

    /** Leaves the next calls alone. Faults that are set later affect the calls after these. */
    public StandIn pass(String call, int times) {
        addFault(call, times, 0, false);
        return this;
    }

    /** Makes the next calls block until {@link #letGo}. */
    public StandIn hold(String call, int times) {
        addFault(call, times, 0, true);
        return this;
    }

    /** Waits until at least this many calls block. */
    public void awaitHeld(int calls) {
        if (!atGate(calls)) {
            throw new AssertionError("not " + calls + " calls are blocked within " + Limit.WAIT);
        }
    }

    /** Removes all faults and lets blocked calls continue. */
    public void letGo() {
        clearFaults();
    }

    @Override
    public void close() {
        clearFaults();
    }

    /** The numbers of the live objects of the device, such as {@code 2 queue pair, 1 memory region}. */
    public static native String alive();

    /** Delivers an event of the device, by its number in {@code enum ibv_event_type}, and the number of a port. */
    public static native void deviceEvent(int type, int port);

    /** Delivers an event of librdmacm, by its number, to each id that listens. */
    public static native void notifyListeners(int event);

    /**
     * Sets a limit of the device.
     *
     * @param limit the name in {@code struct ibv_device_attr}: {@code max_qp} and the other numbers of objects
     * @param most the largest number of objects; 0 for the initial limit
     */
    public static native void setLimit(String limit, int most);

    /** Sets the node GUID that the device reports. */
    public static native void setNodeGuid(long guid);

    private static native void addFault(String call, int times, int errno, boolean gate);

    private static native void clearFaults();

    private static native boolean atGate(int calls);
}
