// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.Objects;

/** Argument checks of several classes. */
public final class Check {
    /** The maximum length of one operation. Some devices use bit 31 of a length for another purpose. */
    public static final long MAX_LENGTH = Integer.MAX_VALUE;

    /**
     * The maximum length of a host name (RFC 1123, 2.1). With a longer name, librpma's log loses the reason of a
     * failure.
     */
    private static final int MAX_ADDRESS = 255;

    private Check() {}

    public static void range(String region, long offset, long length, long size) {
        range(region, offset, length, size, MAX_LENGTH);
    }

    /** As the other overload, for a device that transfers at most {@code maxLength} bytes in one operation. */
    public static void range(String region, long offset, long length, long size, long maxLength) {
        if (offset < 0 || length < 0 || length > maxLength || offset > size - length) {
            throw outOfRange(region, offset, length, size, maxLength);
        }
    }

    private static RuntimeException outOfRange(String region, long offset, long length, long size, long maxLength) {
        if (length > maxLength) {
            return tooLong(length, maxLength);
        }
        return new IndexOutOfBoundsException("bytes " + offset + " to " + offset + " + " + length + " of the " + region
                + " region, which has " + size + " bytes");
    }

    /** Returns the exception for an operation that is longer than {@code maxLength}. */
    public static IllegalArgumentException tooLong(long length, long maxLength) {
        return new IllegalArgumentException("one operation transfers at most "
                + (maxLength == MAX_LENGTH ? "2^31 - 1 bytes" : maxLength + " bytes on this device") + ", not "
                + length);
    }

    /** Returns the exception for a null argument of a hot call. Compiled implicit checks give no message. */
    public static NullPointerException isNull(String argument) {
        return new NullPointerException("the " + argument + " is null");
    }

    /** Checks that the descriptor of an object is whole. */
    public static void descriptor(String object, int size, int bytes) {
        if (bytes < size) {
            throw new IllegalArgumentException("the descriptor of a " + object + " has " + size
                    + (size == 1 ? " byte" : " bytes") + ", here are " + bytes
                    + (bytes == 0 ? ": private data is empty until nextEvent() has returned ESTABLISHED" : ""));
        }
    }

    /** Checks the size of a queue against its minimum. */
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
