// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaPeer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The common code of the examples. */
final class Common {
    static final int KILOBYTE = 1024;

    /** Text is UTF-8, regardless of the locale. */
    static final PrintStream OUT =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private static final int MISUSED = 255;
    private static final long MAX_IMMEDIATE_DATA = 0xffffffffL;
    static final long STARTING_S = 120;
    private static final long RETRY_MS = 100;

    private Common() {}

    /** Begins an example: checks the number of arguments, and enables librpma's log messages. */
    static void start(String[] args, int least, String usage) {
        if (args.length < least) {
            misused("usage: " + usage);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.err.println("error: " + e.getMessage()));
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.INFO);
    }

    /** Ends an example with invalid arguments. */
    static void misused(String message) {
        System.err.println(message);
        System.exit(MISUSED);
    }

    /** Returns an argument of the command line, or its default. */
    static String argument(String[] args, int index, String byDefault) {
        return index < args.length ? args[index] : byDefault;
    }

    /** Parses a number of the command line. */
    static long number(String argument) {
        try {
            return Long.parseUnsignedLong(argument);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a number: '" + argument + "'", e);
        }
    }

    static int port(String argument) {
        return Math.toIntExact(number(argument));
    }

    /** Parses immediate data, which are 32 unsigned bits. */
    static int immediateData(String argument) {
        long imm = number(argument);
        if (Long.compareUnsigned(imm, MAX_IMMEDIATE_DATA) > 0) {
            misused("The provided immediate data is too big (" + argument + " > " + MAX_IMMEDIATE_DATA + ")");
        }
        return (int) imm;
    }

    /**
     * Connects, and waits until the connection is established. If the server is still starting, retries for two
     * minutes.
     */
    static RpmaConn connect(RpmaPeer peer, String addr, int port, RpmaConnCfg cfg, byte[] privateData)
            throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(STARTING_S);
        while (true) {
            try {
                return RpmaConnReq.create(peer, addr, port, cfg).connect(privateData, STARTING_S, TimeUnit.SECONDS);
            } catch (RpmaException e) {
                if (!e.errnoName().equals("ECONNREFUSED") || System.nanoTime() > giveUp) {
                    throw e;
                }
            }
            Thread.sleep(RETRY_MS);
        }
    }

    /** Accepts the next request, and waits until the connection is established. */
    static RpmaConn accept(RpmaEp ep, RpmaConnCfg cfg, byte[] privateData) throws InterruptedException {
        return ep.nextConnReq(cfg).connect(privateData, STARTING_S, TimeUnit.SECONDS);
    }

    /** As {@link #accept(RpmaEp, RpmaConnCfg, byte[])}, with a receive that is posted before the client can send. */
    static RpmaConn accept(RpmaEp ep, RpmaConnCfg cfg, byte[] privateData, Consumer<RpmaConnReq> recv)
            throws InterruptedException {
        try (RpmaConnReq req = ep.nextConnReq(cfg)) {
            recv.accept(req);
            return req.connect(privateData, STARTING_S, TimeUnit.SECONDS);
        }
    }

    /** Waits until the other side disconnects. */
    static void awaitClosed(RpmaConn conn) throws InterruptedException {
        RpmaConnEvent event = conn.nextEvent();
        if (event != RpmaConnEvent.CLOSED) {
            System.err.println("unexpected event: " + event.description());
        }
        conn.disconnect();
    }

    /** Disconnects, and waits until the connection is closed. */
    static void disconnect(RpmaConn conn) throws InterruptedException {
        conn.disconnect();
        RpmaConnEvent event = conn.nextEvent();
        if (event != RpmaConnEvent.CLOSED) {
            System.err.println("unexpected event: " + event.description());
        }
    }

    /** Checks the result of a post. These examples have only few operations under way, so there must be room. */
    static void posted(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the queue is full");
        }
    }

    /** Returns the text before a NUL character, as in C. */
    static String text(ByteBuffer bytes) {
        int length = 0;
        while (length < bytes.remaining() && bytes.get(bytes.position() + length) != 0) {
            length++;
        }
        return StandardCharsets.UTF_8
                .decode(bytes.slice(bytes.position(), length))
                .toString();
    }

    /** Returns a text with a NUL character at the end, as in C. */
    static byte[] bytes(String text) {
        return (text + '\0').getBytes(StandardCharsets.UTF_8);
    }
}
