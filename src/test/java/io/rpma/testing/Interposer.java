// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The calls of librpma and of the shim to libibverbs, librdmacm and the allocator, {@code src/test/c/interposer}: a
 * test counts them, and makes one of them fail, take longer or lose its event.
 */
public final class Interposer {
    /** What happens to a call. The order is that of {@code enum action} in count.c. */
    public enum Action {
        /** The call fails. A call that frees or acknowledges an object does so nevertheless. */
        FAIL,
        /** The call takes some milliseconds longer. */
        DELAY,
        /** The call takes an event, and reports that there is none. */
        LOSE
    }

    /**
     * A call: the number is counted from 1 for each caller, function and thread.
     *
     * @param caller {@code librpma}, {@code shim}, or {@code device} for an operation of the device that either of them
     *     calls
     * @param previous the function of the thread's previous call
     */
    public record Call(String caller, String function, int thread, int number, String previous) {
        /** Whether the function can fail. */
        public boolean canFail() {
            return Interposer.canFail(caller, function);
        }

        /** Whether the function takes events. */
        public boolean takesEvent() {
            return function.equals("rdma_get_cm_event") || function.equals("ibv_get_cq_event");
        }

        @Override
        public String toString() {
            return caller + " " + function + " " + number + (thread == 1 ? "" : " in thread " + thread) + " after "
                    + previous;
        }
    }

    static {
        String library = System.getProperty("rpma.test.interposer");
        assertNotNull(library, "the property rpma.test.interposer does not name the library: see pom.xml");
        System.load(library);
    }

    private Interposer() {}

    /** Starts to count, without a fault. */
    public static native void record();

    /** Starts to count, with a fault. */
    public static void arm(Call call, Action action, int errno) {
        arm(call.caller, call.function, call.thread, call.number, action.ordinal(), errno);
    }

    /** Returns the calls since the count was started. */
    public static List<Call> calls() {
        List<Call> calls = new ArrayList<>();
        Map<Integer, String> previous = new HashMap<>();
        for (int i = 0; i < count(); i++) {
            String[] words = call(i).split(" ");
            int thread = Integer.parseInt(words[2]);
            String after = previous.getOrDefault(thread, "nothing");
            calls.add(new Call(words[0], words[1], thread, Integer.parseInt(words[3]), after));
            previous.put(thread, words[1]);
        }
        return calls;
    }

    /** Redirects the calls. The shim must be loaded. Only calls after this are counted. */
    public static native void redirect();

    /** Gives the current thread a number. Only calls of threads with a number are counted; 0 ends this. */
    public static native void countThread(int number);

    /** Whether the call with the fault was made. */
    public static native boolean isHit();

    /** The objects made and not freed while calls were counted, such as {@code 1 id, 2 region}. */
    public static native String live();

    /** Stops counting. */
    public static native void stop();

    private static native void arm(String caller, String function, int thread, int number, int action, int errno);

    private static native int count();

    private static native String call(int index);

    private static native boolean canFail(String caller, String function);
}
