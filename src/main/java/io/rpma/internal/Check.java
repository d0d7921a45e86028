package io.rpma.internal;

import java.util.Objects;

/** Argument checks that several classes make. */
public final class Check {
    /** The most that one operation can transfer: some devices take the 32nd bit of a length for something else. */
    static final long MAX_LENGTH = Integer.MAX_VALUE;

    /** Host names have no more (RFC 1123, 2.1); in a longer one's failure librpma's log would lose the reason. */
    private static final int MAX_ADDRESS = 255;

    private Check() {}

    public static void range(String region, long offset, long length, long size) {
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
    public static NullPointerException isNull(String argument) {
        return new NullPointerException("the " + argument + " is null");
    }

    /** A size of a queue with at least so many entries. */
    public static void queueSize(String queue, int size, int least) {
        if (size < least) {
            throw new IllegalArgumentException("a " + queue + " queue has at least " + least + " entries, not " + size);
        }
    }

    public static String address(String address) {
        int length = Objects.requireNonNull(address, "address").length();
        if (length < 1 || length > MAX_ADDRESS) {
            throw new IllegalArgumentException("an address has 1 to " + MAX_ADDRESS + " characters, not " + length);
        }
        return address;
    }

    public static String port(int port) {
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port must be 1 to 65535, not " + port);
        }
        return Integer.toString(port);
    }
}
