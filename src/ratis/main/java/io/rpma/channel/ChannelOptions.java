// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.util.concurrent.TimeUnit;

/** The limits of channels, and their times. Of the limits of both sides, the smaller one applies. */
public final class ChannelOptions {
    static final int LEAST_BUFFER = 256;
    static final int MOST_BUFFER = 1 << 19;
    private static final int MOST_REQUESTS = 1 << 10;
    private static final int MOST_CONNECTIONS = 1 << 20;

    private int bufferSize = 8 << 10;
    private int messageSize = 64 << 20;
    private int requests = 64;
    private int requestBytes = 64 << 20;
    private int connections = 1000;
    private long connectNanos = TimeUnit.SECONDS.toNanos(3);
    private long firstPauseNanos = TimeUnit.MILLISECONDS.toNanos(100);
    private long longestPauseNanos = TimeUnit.SECONDS.toNanos(3);
    private long silenceNanos = TimeUnit.SECONDS.toNanos(5);

    /** Creates the default options. */
    public ChannelOptions() {
        // the values are above
    }

    /**
     * Sets the size of the messages' buffers. A message that does not fit into a buffer, of which 8 bytes are used for
     * its header, is read by the receiver. By default 8 KiB.
     *
     * @param bytes the size, 256 bytes to 512 KiB
     * @return this object
     * @throws IllegalArgumentException if the size is out of range
     */
    public ChannelOptions setBufferSize(int bytes) {
        bufferSize = check("the size of a buffer", bytes, LEAST_BUFFER, MOST_BUFFER);
        return this;
    }

    /**
     * Sets the maximum size of a message. By default 64 MiB.
     *
     * @param bytes the size, at least 1
     * @return this object
     * @throws IllegalArgumentException if the size is out of range
     */
    public ChannelOptions setMessageSize(int bytes) {
        messageSize = check("the size of a message", bytes, 1, 1 << 30);
        return this;
    }

    /**
     * Limits the requests of a connection that have no answer. {@link Channel#request} waits at a limit. By default 64
     * requests and 64 MiB; a request that is larger than the limit is permitted if it is the only one. Each side of a
     * connection has two buffers for each request, and four more.
     *
     * @param count the maximum number of requests, 1 to 1024
     * @param bytes the maximum number of their bytes, at least 1
     * @return this object
     * @throws IllegalArgumentException if a limit is out of range
     */
    public ChannelOptions setUnanswered(int count, int bytes) {
        requests = check("the number of requests", count, 1, MOST_REQUESTS);
        requestBytes = check("the number of bytes", bytes, 1, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Limits the connections of a {@link Channels#listen}, which rejects further ones. By default 1000.
     *
     * @param count the maximum number, at least 1
     * @return this object
     * @throws IllegalArgumentException if the number is out of range
     */
    public ChannelOptions setConnections(int count) {
        connections = check("the number of connections", count, 1, MOST_CONNECTIONS);
        return this;
    }

    /**
     * Sets the maximum time of each step of an attempt to connect: to resolve the address, to find the route, and to
     * connect. By default 3 s.
     *
     * @param timeout the time, at least 1
     * @param unit the unit of the time
     * @return this object
     * @throws IllegalArgumentException if the time is not positive
     */
    public ChannelOptions setConnectTimeout(long timeout, TimeUnit unit) {
        connectNanos = nanos(timeout, unit);
        return this;
    }

    /**
     * Sets the pauses after attempts to connect that have failed. Each pause is twice as long as the previous one. A
     * request during a pause fails at once; the first request after it starts the next attempt. By default 100 ms to 3
     * s.
     *
     * @param first the first pause, at least 1
     * @param longest the longest pause, at least the first one
     * @param unit the unit of the pauses
     * @return this object
     * @throws IllegalArgumentException if a pause is out of range
     */
    public ChannelOptions setPauses(long first, long longest, TimeUnit unit) {
        if (longest < first) {
            throw new IllegalArgumentException("the longest pause is shorter than the first one");
        }
        firstPauseNanos = nanos(first, unit);
        longestPauseNanos = nanos(longest, unit);
        return this;
    }

    /**
     * Sets the time after which the other host counts as dead if it does not answer: see
     * {@link io.rpma.RpmaEventLoop#onPeerLost}. By default 5 s.
     *
     * @param limit the time, at least 1
     * @param unit the unit of the time
     * @return this object
     * @throws IllegalArgumentException if the time is not positive
     */
    public ChannelOptions setSilence(long limit, TimeUnit unit) {
        silenceNanos = nanos(limit, unit);
        return this;
    }

    Hello hello() {
        return new Hello(bufferSize, messageSize, requests, requestBytes);
    }

    int connections() {
        return connections;
    }

    long connectNanos() {
        return connectNanos;
    }

    long silenceNanos() {
        return silenceNanos;
    }

    /** Returns the pause after a number of failures, at least 1. */
    long pauseNanos(int failures) {
        long pause = firstPauseNanos;
        for (int i = 1; i < failures && pause < longestPauseNanos; i++) {
            pause *= 2;
        }
        return Math.min(pause, longestPauseNanos);
    }

    private static int check(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + least + " to " + most + ", not " + value);
        }
        return value;
    }

    private static long nanos(long time, TimeUnit unit) {
        if (time < 1) {
            throw new IllegalArgumentException("the time is positive, not " + time);
        }
        return unit.toNanos(time);
    }
}
