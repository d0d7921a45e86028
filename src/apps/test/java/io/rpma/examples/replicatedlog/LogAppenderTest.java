// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.support.FakeMemory;
import io.rpma.support.LostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogAppenderTest {
    private static final int SIZE = 48 << 10;

    private final ByteBuffer staging = ByteBuffer.allocate(LogAppender.STAGING);
    private final List<String> acknowledged = new ArrayList<>();

    private FakeMemory memory(String name, byte[] content, Random random) {
        FakeMemory memory = new FakeMemory(name, content.length, staging, random);
        memory.set(0, content);
        return memory;
    }

    private LogAppender appender() {
        return new LogAppender(staging, (sequence, payload) -> acknowledged.add(sequence + " " + payload.number()));
    }

    private static Payload payload(long number, String text) {
        return new Payload(1, number, text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void recordsGoBehindThoseThatAreThere() throws Exception {
        FakeMemory a = memory("A", TestLog.of(SIZE, "old"), new Random(1));
        FakeMemory b = memory("B", TestLog.of(SIZE), new Random(2));
        LogAppender appender = appender();
        appender.recover(List.of(a, b));
        for (int i = 1; i <= LogAppender.DEPTH; i++) {
            assertThat(appender.hasSlot()).isTrue();
            appender.append(payload(i, "new " + i));
        }
        assertThat(appender.hasSlot()).isFalse();
        while (!appender.isIdle()) {
            appender.awaitOldest();
        }
        assertThat(TestLog.read(a)).hasSize(1 + LogAppender.DEPTH).startsWith("old", "new 1", "new 2");
        assertThat(TestLog.read(b)).isEqualTo(TestLog.read(a));
        assertThat(acknowledged).hasSize(LogAppender.DEPTH).startsWith("2 1", "3 2");
    }

    @Test
    void aFullLogIsLeftAsItIs() throws Exception {
        byte[] content = TestLog.of(4096 + 72, "a0", "a1");
        FakeMemory a = memory("A", content, new Random(1));
        FakeMemory b = memory("B", content, new Random(2));
        LogAppender appender = appender();
        appender.recover(List.of(a, b));
        assertThat(appender.room()).isEqualTo(24);
        assertThatThrownBy(() -> appender.append(payload(1, "9 letters")))
                .isInstanceOf(LogException.class)
                .hasMessage("the log is full: a record takes 32 bytes, and there is room for 24 of 72");
        assertThat(a.content().array()).isEqualTo(content);
        appender.append(payload(1, "8 bytes."));
        appender.awaitOldest();
        assertThat(TestLog.read(b)).containsExactly("a0", "a1", "8 bytes.");
        assertThatThrownBy(() -> appender.append(payload(2, ""))).isInstanceOf(LogException.class);
    }

    @Test
    void anotherAppenderIsNoticed() throws Exception {
        FakeMemory a = memory("A", TestLog.of(SIZE), new Random(1));
        FakeMemory b = memory("B", TestLog.of(SIZE), new Random(2));
        LogAppender appender = appender();
        appender.recover(List.of(a, b));
        a.connect(0);
        assertThatThrownBy(() -> {
                    appender.append(payload(1, "mine"));
                    appender.awaitOldest();
                })
                .isInstanceOf(LostException.class);
        for (String other : new String[] {"not mine", "MINE"}) {
            FakeMemory c = memory("C", TestLog.of(SIZE, other), new Random(3));
            FakeMemory d = memory("D", TestLog.of(SIZE, other), new Random(4));
            assertThatThrownBy(() -> appender.recover(List.of(c, d)))
                    .isInstanceOf(LogException.class)
                    .hasMessageContaining("record 1 is of another appender");
        }
        assertThat(acknowledged).isEmpty();
        FakeMemory c = memory("C", TestLog.of(SIZE, "mine", "and yours"), new Random(3));
        FakeMemory d = memory("D", TestLog.of(SIZE), new Random(4));
        assertThatThrownBy(() -> appender.recover(List.of(c, d)))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("record 2 is of another appender");
    }

    /** The other log has the same number of records, of another length. */
    @Test
    void anotherLogIsNoticed() throws Exception {
        LogAppender appender = appender();
        appender.recover(List.of(
                memory("A", TestLog.of(SIZE, "one"), new Random(1)),
                memory("B", TestLog.of(SIZE, "one"), new Random(2))));
        assertThatThrownBy(() -> appender.recover(List.of(
                        memory("C", TestLog.of(SIZE, "another one"), new Random(3)),
                        memory("D", TestLog.of(SIZE, "another one"), new Random(4)))))
                .isInstanceOf(LogException.class)
                .hasMessage("C: record 1 was acknowledged, and ends at 32 instead of 24: the log is another one");
    }

    @Test
    void acknowledgedRecordsThatAreGone() throws Exception {
        FakeMemory a = memory("A", TestLog.of(SIZE), new Random(1));
        FakeMemory b = memory("B", TestLog.of(SIZE), new Random(2));
        LogAppender appender = appender();
        appender.recover(List.of(a, b));
        appender.append(payload(1, "one"));
        appender.awaitOldest();
        FakeMemory empty = memory("A", TestLog.of(SIZE), new Random(1));
        appender.recover(List.of(empty, b));
        assertThat(TestLog.read(empty)).containsExactly("one");
        assertThatThrownBy(() -> appender.recover(List.of(
                        memory("A", TestLog.of(SIZE), new Random(1)), memory("B", TestLog.of(SIZE), new Random(1)))))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("acknowledged are gone from both replicas: record 1 and later");
    }

    @Test
    void aReplicaThatHasBecomeTooSmall() throws Exception {
        FakeMemory a = memory("A", TestLog.of(SIZE), new Random(1));
        FakeMemory b = memory("B", TestLog.of(SIZE), new Random(2));
        LogAppender appender = appender();
        appender.recover(List.of(a, b));
        a.disconnect();
        assertThatThrownBy(() -> appender.append(payload(1, "one"))).isInstanceOf(LostException.class);
        FakeMemory small = memory("A", TestLog.of(4096 + 8), new Random(1));
        assertThatThrownBy(() -> appender.recover(List.of(small, b)))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("has become smaller");
    }

    /**
     * Appends while replicas are lost at any operation, with and without a power cut, and the appender is lost too. At
     * any time, both logs contain each acknowledged record once, and no torn record.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void whateverIsLostAcknowledgedRecordsAreThere(int part) throws Exception {
        for (int seed = part * 1000; seed < part * 1000 + 75; seed++) {
            new RandomRun(seed).run();
        }
    }

    /** One random history. */
    private final class RandomRun {
        private static final int ROUNDS = 30;

        private final int seed;
        private final Random random;
        private final List<FakeMemory> replicas;
        private final TreeMap<Long, String> safe = new TreeMap<>();
        private LogAppender appender;
        private int appended;

        RandomRun(int seed) {
            this.seed = seed;
            random = new Random(seed);
            replicas = List.of(
                    memory("A", TestLog.of(SIZE), new Random(random.nextLong())),
                    memory("B", TestLog.of(SIZE), new Random(random.nextLong())));
            start();
        }

        private void start() {
            appender = new LogAppender(staging, (sequence, payload) -> {
                String before = safe.put(sequence, new String(payload.bytes(), StandardCharsets.UTF_8));
                assertThat(before).as("seed %d, record %d", seed, sequence).isNull();
            });
        }

        void run() throws Exception {
            for (int round = 0; round < ROUNDS; round++) {
                for (FakeMemory replica : replicas) {
                    if (!replica.isConnected()) {
                        replica.connect(random.nextInt(3) == 0 ? FakeMemory.NEVER : random.nextInt(120));
                    }
                }
                try {
                    appender.recover(replicas);
                    append();
                } catch (LostException e) {
                    // The next round recovers.
                }
                loseSome();
                check();
            }
            replicas.forEach(replica -> replica.connect(FakeMemory.NEVER));
            appender.recover(replicas);
            while (!appender.isIdle()) {
                appender.awaitOldest();
            }
            check();
            assertThat(TestLog.read(replicas.get(0))).isEqualTo(TestLog.read(replicas.get(1)));
        }

        private void append() throws Exception {
            for (int i = random.nextInt(random.nextInt(4) == 0 ? 100 : 20); i > 0; i--) {
                if (appender.hasSlot() && random.nextInt(3) > 0) {
                    appended++;
                    appender.append(payload(appended, "record " + appended + " ".repeat(random.nextInt(30))));
                } else if (!appender.isIdle()) {
                    appender.awaitOldest();
                }
            }
        }

        private void loseSome() {
            for (FakeMemory replica : replicas) {
                switch (random.nextInt(4)) {
                    case 0 -> replica.cutPower();
                    case 1 -> replica.disconnect();
                    default -> {}
                }
            }
            if (random.nextInt(4) == 0) {
                // The kernel closes the connections of a dead program.
                replicas.forEach(FakeMemory::disconnect);
                start();
            }
        }

        private void check() throws Exception {
            for (FakeMemory replica : replicas) {
                List<String> records;
                try {
                    records = TestLog.read(replica);
                } catch (LogException e) {
                    throw new AssertionError("seed " + seed + ", " + replica, e);
                }
                for (var record : safe.entrySet()) {
                    assertThat(records)
                            .as("seed %d, %s", seed, replica)
                            .hasSizeGreaterThanOrEqualTo(record.getKey().intValue());
                    assertThat(records.get(record.getKey().intValue() - 1)).isEqualTo(record.getValue());
                }
                Set<String> numbers = new HashSet<>();
                records.forEach(record -> assertThat(numbers.add(record.strip()))
                        .as("seed %d, %s: %s is there twice", seed, replica, record)
                        .isTrue());
            }
        }
    }
}
