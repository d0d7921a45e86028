// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.RaftClientReply;

/** Stores one value after the other, with short pauses, and remembers which are acknowledged. */
final class Writer implements AutoCloseable {
    /** Leaves processor time to servers that start on the same host. */
    private static final long PAUSE_MS = 10;

    private final RaftClient client;
    private final Thread thread = new Thread(this::run, "writer");
    private boolean ended;
    private long acknowledged;
    private long last = System.nanoTime();
    private long longestPause;
    private String leader = "";
    private IOException failure;

    /** Checks the servers. */
    interface Check {
        /** Fails if a server has ended. */
        void run() throws IOException;
    }

    Writer(Group group) {
        client = group.client();
        thread.start();
    }

    private void run() {
        try {
            for (long number = 0; !isEnded(); number++) {
                RaftClientReply reply = client.io().send(Store.put(key(number), value(number)));
                if (!reply.isSuccess()) {
                    throw new IOException("not acknowledged: " + reply);
                }
                acknowledged(reply.getServerId().toString());
                Thread.sleep(PAUSE_MS);
            }
        } catch (IOException e) {
            failed(e);
        } catch (InterruptedException e) {
            failed(new InterruptedIOException());
        }
    }

    private synchronized void acknowledged(String by) {
        long now = System.nanoTime();
        longestPause = Math.max(longestPause, now - last);
        last = now;
        leader = by;
        acknowledged++;
        notifyAll();
    }

    private synchronized void failed(IOException e) {
        failure = e;
        notifyAll();
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    private static String key(long number) {
        return "key " + number;
    }

    private static String value(long number) {
        return Long.toString(number * number);
    }

    /** Returns the number of acknowledged values. */
    synchronized long acknowledged() {
        return acknowledged;
    }

    /** Returns the server that has acknowledged the last value; an empty string if there is none. */
    synchronized String leader() {
        return leader;
    }

    /** Returns the longest time between two acknowledgements since the last call. */
    synchronized long takeLongestPauseNanos() {
        long longest = longestPause;
        longestPause = 0;
        return longest;
    }

    /**
     * Waits until further values are acknowledged.
     *
     * @param check is made from time to time
     */
    synchronized void await(long more, Check check) throws IOException, InterruptedException {
        long until = acknowledged + more;
        while (acknowledged < until) {
            if (failure != null) {
                throw failure;
            }
            check.run();
            wait(100);
        }
    }

    /** Ends the writes, after the one that is under way. */
    void stop() throws InterruptedException {
        synchronized (this) {
            ended = true;
        }
        thread.join();
    }

    /**
     * Reads all acknowledged values.
     *
     * @throws IOException if one is lost
     */
    void check() throws IOException {
        long all = acknowledged();
        for (long number = 0; number < all; number++) {
            RaftClientReply reply = client.io().sendReadOnly(Store.get(key(number)));
            String found = reply.getMessage().getContent().toStringUtf8();
            if (!found.equals(value(number))) {
                throw new IOException("the acknowledged value of '" + key(number) + "' is lost: '" + found + "'");
            }
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            ended = true;
        }
        client.close();
    }
}
