package io.rpma.examples.librpma;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEp;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** What the examples share. */
final class Common {
    static final int KILOBYTE = 1024;

    /** Text is UTF-8, whatever the locale. */
    static final PrintStream OUT =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private static final int MISUSED = 255;
    private static final long STARTING_S = 10;
    private static final long RETRY_MS = 100;

    private Common() {}

    /** Begins an example: checks that it has its arguments, and shows what librpma logs. */
    static void start(String[] args, int least, String usage) {
        if (args.length < least) {
            System.err.println("usage: " + usage);
            System.exit(MISUSED);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.err.println("error: " + e.getMessage()));
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.INFO);
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

    /** Waits for one completion: the success of an operation of this kind. */
    static RpmaCompletions completion(RpmaCq cq, RpmaWcOpcode opcode) throws InterruptedException {
        RpmaCompletions wc = completion(cq);
        if (wc.opcode(0) != opcode) {
            throw new IllegalStateException("a completion of " + wc.opcode(0) + " instead of " + opcode);
        }
        return wc;
    }

    /** Waits for one completion: the success of the operation with this context. */
    static void completion(RpmaCq cq, long opContext) throws InterruptedException {
        RpmaCompletions wc = completion(cq);
        if (wc.wrId(0) != opContext) {
            throw new IllegalStateException("a completion of operation " + wc.wrId(0) + " instead of " + opContext);
        }
    }

    private static RpmaCompletions completion(RpmaCq cq) throws InterruptedException {
        RpmaCompletions wc = RpmaCompletions.create(1);
        cq.await(wc);
        if (!wc.isSuccess(0)) {
            throw new IllegalStateException(
                    wc.opcode(0) + " failed: " + wc.status(0).description());
        }
        return wc;
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
