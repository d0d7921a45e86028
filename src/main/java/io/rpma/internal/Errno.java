// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.nio.charset.StandardCharsets;

/** The numbers and texts of the errors of the system. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ENXIO = 6;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int ENOSYS = 38;
    public static final int EPROTO = 71;
    public static final int EOPNOTSUPP = 95;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ECONNRESET = 104;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTUNREACH = 113;

    /** Precedes the text of an error in a message of librpma, except if a name is not resolved, which leaves any errno. */
    public static final String FAILED = " failed: ";

    private Errno() {}

    /** Returns the text of an error, in English. */
    public static String message(int errno) {
        return new String(Natives.errnoMessage(errno), StandardCharsets.UTF_8);
    }

    /** Returns the name of the constant, or an empty string for a number without a name. */
    public static String name(int errno) {
        return new String(Natives.errnoName(errno), StandardCharsets.UTF_8);
    }
}
