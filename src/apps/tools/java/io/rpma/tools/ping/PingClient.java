// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.support.Connector;
import io.rpma.support.Errors;
import io.rpma.support.Program;
import java.io.IOException;
import java.util.Locale;

/** Sends messages, and prints the times of their round trips. */
final class PingClient {
    private final Connector connector;
    private final int size;
    private final long timeout;
    private final boolean quiet;

    private final PingTimes times = new PingTimes();
    private long sent;

    /** Null after the loss of a connection. */
    private PingConnection connection;

    /**
     * Sets up a client.
     *
     * @param size the size of a message in bytes
     * @param timeout for each answer, in nanoseconds
     * @param quiet whether only the summary is printed
     */
    PingClient(String address, int port, int size, long timeout, boolean quiet) {
        connector = new Connector(address, port, "ping --listen ADDRESS");
        this.size = size;
        this.timeout = timeout;
        this.quiet = quiet;
    }

    /**
     * Sends messages until the thread is interrupted.
     *
     * @param count the most messages; 0 for no limit
     * @param interval the time between the starts of two messages, in nanoseconds
     * @return whether a message was answered
     * @throws IOException if the first connection can't be made, or the output can't be written
     */
    boolean ping(int count, long interval) throws IOException, InterruptedException {
        RpmaDevice device = connector.device();
        try (RpmaPeer peer = RpmaPeer.create(device)) {
            long begin = System.nanoTime();
            connection = PingConnection.open(peer, connector, size, timeout);
            String time = format("%.1f ms", (System.nanoTime() - begin) / 1e6);
            if (!quiet) {
                print(format("%s through %s: connected in %s", connector, device.name(), time));
            }
            try {
                exchange(peer, count, interval);
            } catch (InterruptedException e) {
                // Ctrl-C is the usual end
            }
            try {
                // before the connection is closed, which takes seconds if the other host is dead
                summarise();
            } finally {
                disconnect();
            }
        }
        return times.count() > 0;
    }

    private void exchange(RpmaPeer peer, int count, long interval) throws IOException, InterruptedException {
        while (true) {
            long begin = System.nanoTime();
            exchange(peer);
            // a sleep of no time does not notice an interruption
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (sent == count) {
                return;
            }
            NANOSECONDS.sleep(begin + interval - System.nanoTime());
        }
    }

    private void exchange(RpmaPeer peer) throws IOException, InterruptedException {
        long sequence = sent + 1;
        String result;
        try {
            if (connection == null) {
                connection = PingConnection.open(peer, connector, size, timeout);
            }
            long time = connection.roundTrip(sequence, timeout);
            times.add(time);
            result = format("%d bytes, time %.1f us", size, PingTimes.micros(time));
        } catch (IOException | RpmaException e) {
            disconnect();
            result = Errors.line(e);
        }
        sent = sequence;
        if (!quiet) {
            print(sequence + ": " + result);
        }
    }

    private void disconnect() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    private void summarise() throws IOException {
        long answered = times.count();
        print("");
        print(format(
                "%d messages of %d bytes, %d answered, %.0f %% lost",
                sent, size, answered, sent == 0 ? 0.0 : 100.0 * (sent - answered) / sent));
        if (answered > 0) {
            print(times.toString());
        }
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static void print(String line) throws IOException {
        Program.print(System.out, line);
    }
}
