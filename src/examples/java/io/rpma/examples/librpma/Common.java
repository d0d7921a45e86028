package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
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

/** What the examples share. */
final class Common {
    static final int KILOBYTE = 1024;

    /** Text is UTF-8, whatever the locale. */
    static final PrintStream OUT =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private static final int MISUSED = 255;
    private static final long MAX_IMMEDIATE_DATA = 0xffffffffL;
    private static final long STARTING_S = 10;
    private static final long RETRY_MS = 100;

    private Common() {}

    /** Begins an example: checks that it has its arguments, and shows what librpma logs. */
    static void start(String[] args, int least, String usage) {
        if (args.length < least) {
            misused("usage: " + usage);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.err.println("error: " + e.getMessage()));
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.INFO);
    }

    /** Ends an example whose arguments make no sense. */
    static void misused(String message) {
        System.err.println(message);
        System.exit(MISUSED);
    }

    /** An argument of the command line that can be left out. */
    static String argument(String[] args, int index, String byDefault) {
        return index < args.length ? args[index] : byDefault;
    }

    /** A number of the command line. */
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

    /** Immediate data: 32 bits without a sign. */
    static int immediateData(String argument) {
        long imm = number(argument);
        if (Long.compareUnsigned(imm, MAX_IMMEDIATE_DATA) > 0) {
            misused("The provided immediate data is too big (" + argument + " > " + MAX_IMMEDIATE_DATA + ")");
        }
        return (int) imm;
    }

    /** Connects, and waits until the connection is established. A server that is only starting gets a few seconds. */
    static RpmaConn connect(RpmaPeer peer, String addr, int port, RpmaConnCfg cfg, byte[] privateData)
            throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(STARTING_S);
        while (true) {
            RpmaConn conn = RpmaConnReq.create(peer, addr, port, cfg).connect(privateData);
            RpmaConnEvent event = conn.nextEvent();
            if (event == RpmaConnEvent.ESTABLISHED) {
                return conn;
            }
            conn.close();
            if (event != RpmaConnEvent.REJECTED || System.nanoTime() > giveUp) {
                throw new IllegalStateException("no connection to " + addr + ":" + port + ": " + event.description());
            }
            Thread.sleep(RETRY_MS);
        }
    }

    /** Accepts the next request, and waits until the connection is established. */
    static RpmaConn accept(RpmaEp ep, RpmaConnCfg cfg, byte[] privateData) throws InterruptedException {
        return established(ep.nextConnReq(cfg).connect(privateData));
    }

    /** As {@link #accept(RpmaEp, RpmaConnCfg, byte[])}, with a receive posted before the client can send anything. */
    static RpmaConn accept(RpmaEp ep, RpmaConnCfg cfg, byte[] privateData, Consumer<RpmaConnReq> recv)
            throws InterruptedException {
        try (RpmaConnReq req = ep.nextConnReq(cfg)) {
            recv.accept(req);
            return established(req.connect(privateData));
        }
    }

    /** Waits until a connection is established. */
    static RpmaConn established(RpmaConn conn) throws InterruptedException {
        RpmaConnEvent event = conn.nextEvent();
        if (event != RpmaConnEvent.ESTABLISHED) {
            conn.close();
            throw new IllegalStateException("not connected: " + event.description());
        }
        return conn;
    }

    /** Waits until the other side disconnects. */
    static void awaitClosed(RpmaConn conn) throws InterruptedException {
        RpmaConnEvent event = conn.nextEvent();
        if (event != RpmaConnEvent.CLOSED) {
            System.err.println("unexpected event: " + event.description());
        }
        conn.disconnect();
    }

    /** Disconnects, and waits until that is done. */
    static void disconnect(RpmaConn conn) throws InterruptedException {
        conn.disconnect();
        RpmaConnEvent event = conn.nextEvent();
        if (event != RpmaConnEvent.CLOSED) {
            System.err.println("unexpected event: " + event.description());
        }
    }

    /** A post has to find room: these examples have only few operations under way. */
    static void posted(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the queue is full");
        }
    }

    /** Text that ends with a NUL character, as C has it. */
    static String text(ByteBuffer bytes) {
        int length = 0;
        while (length < bytes.remaining() && bytes.get(bytes.position() + length) != 0) {
            length++;
        }
        return StandardCharsets.UTF_8
                .decode(bytes.slice(bytes.position(), length))
                .toString();
    }

    /** Text with the NUL character that ends it in C. */
    static byte[] bytes(String text) {
        return (text + '\0').getBytes(StandardCharsets.UTF_8);
    }
}
