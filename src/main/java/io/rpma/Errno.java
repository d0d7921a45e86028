package io.rpma;

import java.nio.charset.StandardCharsets;

/** The numbers and texts of the system's errors. */
final class Errno {
    static final int ENOMEM = 12;
    static final int EFAULT = 14;
    static final int EEXIST = 17;
    static final int ENODEV = 19;
    static final int EINVAL = 22;
    static final int EMFILE = 24;
    static final int ENOSPC = 28;
    static final int ENOSYS = 38;
    static final int EOPNOTSUPP = 95;
    static final int EADDRINUSE = 98;
    static final int EADDRNOTAVAIL = 99;

    private Errno() {}

    static String message(int errno) {
        return new String(Natives.errnoMessage(errno), StandardCharsets.UTF_8);
    }

    /** The name of its constant, empty for a number that has none. */
    static String name(int errno) {
        return new String(Natives.errnoName(errno), StandardCharsets.UTF_8);
    }
}
