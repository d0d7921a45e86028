// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/** The file of the times that a client has measured: numbers of 8 bytes in native byte order, in nanoseconds. */
final class Samples {
    private static final int DIGITS = 3;

    private Samples() {}

    /** Makes room for this number of times. Writes to each page, so that the measurement has no page faults. */
    static long[] create(int count) {
        long[] samples = new long[count];
        Arrays.fill(samples, -1);
        return samples;
    }

    static void write(long[] samples, Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(samples.length * Long.BYTES).order(ByteOrder.nativeOrder());
        bytes.asLongBuffer().put(samples);
        Files.write(file, bytes.array());
    }

    /**
     * Reads a file of times.
     *
     * @throws IOException if the file is empty, or contains something else than times
     */
    static Histogram read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
        if (!bytes.hasRemaining() || bytes.remaining() % Long.BYTES != 0) {
            throw new IOException(file + " has " + bytes.remaining() + " bytes, which are no times");
        }
        Histogram histogram = new Histogram(DIGITS);
        LongBuffer times = bytes.asLongBuffer();
        while (times.hasRemaining()) {
            long time = times.get();
            if (time < 0) {
                throw new IOException(file + " has a time of " + time + " ns");
            }
            histogram.recordValue(time);
        }
        return histogram;
    }
}
