// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.lang.annotation.Native;

/**
 * The codes that native methods return instead of a handle or a number. A negative code is a failure and has the same
 * meaning for each native method. The shim takes the native ones from the header that javac makes of this class; the
 * others are those of librpma.h.
 */
public final class Result {
    /** The operation is posted. */
    @Native
    public static final int POSTED = 0;

    /** The queue of a post is full. */
    @Native
    public static final int QUEUE_FULL = 2;

    /** A wait has timed out. */
    @Native
    public static final int TIMED_OUT = 0;

    /** A wait has ended because its object is ready. */
    @Native
    public static final int READY = 1;

    /** Added to the number of completions if they are of the second queue. Larger than the capacity of any array. */
    @Native
    public static final int SECOND_QUEUE = 1 << 30;

    /** One of the objects of the call is closed. */
    @Native
    public static final int CLOSED = -1;

    /** A wait has ended because the waiter's eventfd is readable. */
    @Native
    public static final int WOKEN = -4;

    /** The id is not bound to a device. */
    @Native
    public static final int NO_DEVICE = -2;

    /** The taken event is not a connection request. */
    @Native
    public static final int OTHER_EVENT = -3;

    /** The registration needs on-demand paging, with which the device would misplace bytes. */
    @Native
    public static final int MISPLACES = -5;

    /** The base of the errors of the system: such a result is this number minus errno. */
    @Native
    public static final int ERRNO = -1000;

    /** RPMA_E_NOSUPP. */
    public static final int NOSUPP = -100001;

    /** RPMA_E_PROVIDER. */
    public static final int PROVIDER = -100002;

    /** RPMA_E_NOMEM. */
    public static final int NOMEM = -100003;

    /** RPMA_E_NO_COMPLETION. */
    public static final int NO_COMPLETION = -100005;

    /** RPMA_E_NO_EVENT. */
    public static final int NO_EVENT = -100006;

    /** RPMA_E_SHARED_CHANNEL. */
    static final int SHARED_CHANNEL = -100008;

    /** RPMA_E_NOT_SHARED_CHNL. */
    static final int NOT_SHARED_CHNL = -100009;

    private static final int LAST_ERRNO = ERRNO - 4095;

    private Result() {}

    /** Returns the errno of a result, or 0 if the result is not an error of the system. */
    static int errno(long result) {
        return result < ERRNO && result >= LAST_ERRNO ? (int) (ERRNO - result) : 0;
    }
}
