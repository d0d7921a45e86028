// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many round trips over one channel: memory and descriptors stay as they are. */
@Tag("soak")
class ChannelSoakIT {
    private static final long ROUND_TRIPS =
            Long.getLong("rpma.round.trips", Boolean.getBoolean("rpma.long") ? 10_000_000 : 200_000);

    private static final int AT_ONCE = 32;

    /** The round trips until all code is compiled. */
    private static final long WARM_UP = 50_000;

    /** A thread, or a segment of the JVM's heap outside Java, that is made late. */
    private static final long MOST_GROWTH_KB = 32 << 10;

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void manyRoundTrips() throws Exception {
        String address = TestDevice.address();
        int port = TestDevice.port();
        RpmaDevice device = RpmaDevice.local(address);
        try (Channels server = Channels.create(device, new ChannelOptions());
                Channels client = Channels.create(device, new ChannelOptions())) {
            server.listen(address, port, () -> (request, answer) -> answer.send(Message.of(request)));
            try (Channel channel = client.connect(address, port)) {
                roundTrips(channel, WARM_UP);
                long memory = residentKilobytes();
                long descriptors = descriptors();
                long begun = System.nanoTime();
                roundTrips(channel, ROUND_TRIPS);
                System.out.printf(
                        "%,d round trips in %d s; resident memory %,d kB before, %,d kB after%n",
                        ROUND_TRIPS, (System.nanoTime() - begun) / SECONDS.toNanos(1), memory, residentKilobytes());
                assertThat(descriptors()).isEqualTo(descriptors);
                assertThat(residentKilobytes()).isLessThan(memory + MOST_GROWTH_KB);
            }
        }
    }

    private static void roundTrips(Channel channel, long count) throws Exception {
        ByteBuffer request = ByteBuffer.allocate(Long.BYTES);
        Deque<CompletableFuture<Long>> answers = new ArrayDeque<>();
        for (long i = 0; i < count; i++) {
            if (answers.size() == AT_ONCE) {
                assertThat(answers.remove().get()).isEqualTo(i - AT_ONCE);
            }
            request.putLong(0, i);
            answers.add(channel.request(Message.of(request), ByteBuffer::getLong, 300, SECONDS));
        }
        for (long i = count - answers.size(); i < count; i++) {
            assertThat(answers.remove().get()).isEqualTo(i);
        }
    }

    private static long residentKilobytes() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .map(line -> line.replaceAll("[^0-9]", ""))
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
