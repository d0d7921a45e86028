package io.rpma;

import java.util.Objects;

/** Argument checks that several classes make. */
final class Check {
    /** The most that one operation can transfer: some devices take the 32nd bit of a length for something else. */
    static final long MAX_LENGTH = Integer.MAX_VALUE;

    /** Host names have no more (RFC 1123, 2.1); in a longer one's failure librpma's log would lose the reason. */
    private static final int MAX_ADDRESS = 255;

    private Check() {}

    static void range(String region, long offset, long length, long size) {
        if (offset < 0 || length < 0 || length > MAX_LENGTH || offset > size - length) {
            throw outOfRange(region, offset, length, size);
        }
    }

    private static RuntimeException outOfRange(String region, long offset, long length, long size) {
        if (length > MAX_LENGTH) {
            return new IllegalArgumentException("one operation transfers at most 2^31 - 1 bytes, not " + length);
        }
        return new IndexOutOfBoundsException("bytes " + offset + " to " + offset + " + " + length + " of the " + region
                + " region, which has " + size + " bytes");
    }

    /** The exception for an argument of a hot call that is null, where compiled code would throw one without a message. */
    static NullPointerException isNull(String argument) {
        return new NullPointerException("the " + argument + " is null");
    }

    static void flags(int flags) {
        if (flags != RpmaConn.F_COMPLETION_ALWAYS && flags != RpmaConn.F_COMPLETION_ON_ERROR) {
            throw new IllegalArgumentException(
                    "flags must be F_COMPLETION_ALWAYS or F_COMPLETION_ON_ERROR, not " + flags);
        }
    }

    static void usage(int usage, RpmaMrUsage needed, String region) {
        if ((usage & needed.bit()) == 0) {
            throw new IllegalArgumentException("the " + region + " region is not registered for " + needed
                    + ", but for " + RpmaMrUsage.setOf(usage));
        }
    }

    /** A size of a queue with at least so many entries. */
    static void queueSize(String queue, int size, int least) {
        if (size < least) {
            throw new IllegalArgumentException("a " + queue + " queue has at least " + least + " entries, not " + size);
        }
    }

    static String address(String address) {
        int length = Objects.requireNonNull(address, "address").length();
        if (length < 1 || length > MAX_ADDRESS) {
            throw new IllegalArgumentException("an address has 1 to " + MAX_ADDRESS + " characters, not " + length);
        }
        return address;
    }

    static String port(int port) {
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port must be 1 to 65535, not " + port);
        }
        return Integer.toString(port);
    }
}
