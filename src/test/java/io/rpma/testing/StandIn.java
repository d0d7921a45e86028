package io.rpma.testing;

/**
 * The device inside this process, {@code src/test/c/standin}, for tests with the tag {@code stand-in}: makes calls fail or
 * block.
 *
 * <p>Calls are named as functions of libibverbs, such as {@code ibv_reg_mr}, or as commands that librdmacm writes to the
 * kernel, such as {@code ucma:DESTROY_ID}.
 */
public final class StandIn implements AutoCloseable {
    static {
        String library = System.getenv("LD_PRELOAD");
        if (library == null || !library.contains("libstandin")) {
            throw new IllegalStateException("not on the stand-in: run 'mvn surefire:test@stand-in'");
        }
        // the process has it already: this makes its natives known
        System.load(library.substring(library.lastIndexOf(':') + 1));
    }

    private StandIn() {}

    /** No faults, until this is closed. */
    public static StandIn open() {
        clearFaults();
        return new StandIn();
    }

    /** Has the next calls fail with an errno. */
    public StandIn fail(String call, int times, int errno) {
        addFault(call, times, errno, false);
        return this;
    }

    /** Leaves the next calls alone, before those of the faults that are set after this. */
    public StandIn pass(String call, int times) {
        addFault(call, times, 0, false);
        return this;
    }

    /** Has the next calls block until {@link #letGo}. */
    public StandIn hold(String call, int times) {
        addFault(call, times, 0, true);
        return this;
    }

    /** Waits until so many calls block. */
    public void awaitHeld(int calls) {
        if (!atGate(calls)) {
            throw new AssertionError("not " + calls + " calls are blocked within 20 s");
        }
    }

    /** Forgets the faults and lets blocked calls go on. */
    public void letGo() {
        clearFaults();
    }

    @Override
    public void close() {
        clearFaults();
    }

    /** Which objects of the device exist, such as {@code 2 queue pair, 1 memory region}. */
    public static native String alive();

    /** Delivers an event of librdmacm, by its number, to each id that listens. */
    public static native void notifyListeners(int event);

    private static native void addFault(String call, int times, int errno, boolean gate);

    private static native void clearFaults();

    private static native boolean atGate(int calls);
}
