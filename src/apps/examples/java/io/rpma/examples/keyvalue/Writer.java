// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.RaftClientReply;

/** Stores one value after the other, and remembers which are acknowledged. */
final class Writer implements AutoCloseable {
    private final RaftClient client;
    private final Thread thread = new Thread(this::run, "writer");
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong longestPause = new AtomicLong();
    private final AtomicReference<String> leader = new AtomicReference<>("");
    private final AtomicReference<IOException> failure = new AtomicReference<>();
    private volatile boolean ended;

    Writer(Group group) {
        client = group.client();
        thread.start();
    }

    private void run() {
        long last = System.nanoTime();
        for (long number = 0; !ended; number++) {
            try {
                RaftClientReply reply = client.io().send(Store.put(key(number), value(number)));
                if (!reply.isSuccess()) {
                    throw new IOException("not acknowledged: " + reply);
                }
                leader.set(reply.getServerId().toString());
            } catch (IOException e) {
                failure.set(e);
                return;
            }
            long now = System.nanoTime();
            longestPause.accumulateAndGet(now - last, Math::max);
            last = now;
            acknowledged.incrementAndGet();
        }
    }

    private static String key(long number) {
        return "key " + number;
    }

    private static String value(long number) {
        return Long.toString(number * number);
    }

    /** Returns the number of acknowledged values. */
    long acknowledged() throws IOException {
        if (failure.get() != null) {
            throw failure.get();
        }
        return acknowledged.get();
    }

    /** Returns the server that has acknowledged the last value; an empty string if there is none. */
    String leader() {
        return leader.get();
    }

    /** Returns the longest time between two acknowledgements since the last call. */
    long takeLongestPauseNanos() {
        return longestPause.getAndSet(0);
    }

    /** Waits until further values are acknowledged by servers. */
    void await(long more, Processes servers) throws IOException, InterruptedException {
        long until = acknowledged() + more;
        while (acknowledged() < until) {
            servers.check();
            Thread.sleep(1);
        }
    }

    /** Ends the writes. */
    void stop() throws InterruptedException {
        ended = true;
        thread.join();
    }

    /**
     * Reads all acknowledged values.
     *
     * @throws IOException if one is lost
     */
    void check() throws IOException {
        for (long number = 0; number < acknowledged(); number++) {
            RaftClientReply reply = client.io().sendReadOnly(Store.get(key(number)));
            String found = reply.getMessage().getContent().toStringUtf8();
            if (!found.equals(value(number))) {
                throw new IOException("the acknowledged value of '" + key(number) + "' is lost: '" + found + "'");
            }
        }
    }

    @Override
    public void close() throws IOException {
        ended = true;
        client.close();
    }
}
