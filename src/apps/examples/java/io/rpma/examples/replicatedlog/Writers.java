// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** The threads that append, and the queue of their records. */
final class Writers {
    /** The minimum size of a generated record, with room for its beginning. */
    static final int LEAST_SIZE = 32;

    private static final String FILLER = "abcdefghijklmnopqrstuvwxyz";

    /** The end of a thread: its failure, or null if it has no more records. */
    private record End(IOException failure) {}

    /** The work of a thread. */
    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private final BlockingQueue<Object> queue = new ArrayBlockingQueue<>(LogAppender.DEPTH);
    private final long totalLength;
    private int running;

    private Writers(long totalLength) {
        this.totalLength = totalLength;
    }

    /** Starts threads, each of which appends this number of records with payloads of this size. */
    static Writers generating(int writers, int records, int size) {
        Writers started = new Writers((long) writers * records * LogLayout.recordLength(size));
        for (int i = 1; i <= writers; i++) {
            int writer = i;
            started.start("writer " + writer, () -> started.generate(writer, records, size));
        }
        return started;
    }

    /** Starts a thread that appends the lines of a stream. */
    static Writers reading(InputStream lines) {
        Writers started = new Writers(0);
        started.start("reader", () -> started.read(lines));
        return started;
    }

    private void start(String name, Work work) {
        running++;
        Thread thread = new Thread(() -> run(work), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Work work) {
        try {
            IOException failure = null;
            try {
                work.run();
            } catch (IOException e) {
                failure = e;
            } catch (RuntimeException | OutOfMemoryError e) {
                // otherwise the appender would wait for the records indefinitely
                failure = new IOException(e);
            }
            queue.put(new End(failure));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void generate(int writer, int records, int size) throws InterruptedException {
        for (int number = 1; number <= records; number++) {
            queue.put(new Payload(writer, number, text(writer, number, size).getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** Returns the text of a record, which is determined by the numbers. */
    static String text(int writer, int number, int size) {
        String beginning = String.format(Locale.ROOT, "writer %d record %d ", writer, number);
        int missing = size - beginning.length();
        return beginning + FILLER.repeat(missing / FILLER.length() + 1).substring(0, missing);
    }

    private void read(InputStream stream) throws IOException, InterruptedException {
        // One character for each byte, so that bytes that are not text are appended unchanged.
        BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.ISO_8859_1));
        long number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            if (line.length() > LogLayout.MOST_PAYLOAD) {
                throw new LogException("line " + number + " has " + line.length() + " bytes, and a record at most "
                        + LogLayout.MOST_PAYLOAD);
            }
            queue.put(new Payload(1, number, line.getBytes(StandardCharsets.ISO_8859_1)));
        }
    }

    /** Returns the number of bytes of all records in the log; 0 if unknown. */
    long totalLength() {
        return totalLength;
    }

    /** Returns whether there are no more records. */
    boolean haveEnded() {
        return running == 0;
    }

    /**
     * Takes the next record.
     *
     * @return null if there is no record within the timeout, or a writer has ended
     * @throws IOException if a writer has failed
     */
    Payload next(long timeoutMs) throws IOException, InterruptedException {
        Object next = queue.poll(timeoutMs, TimeUnit.MILLISECONDS);
        if (next instanceof End end) {
            running--;
            if (end.failure() != null) {
                throw end.failure();
            }
            return null;
        }
        return (Payload) next;
    }
}
