// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaMemory;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The log with two replicas, one in persistent memory, if the machine has any, and one in tmpfs. The replicas and the
 * appender are separate processes, which may die.
 */
@Tag("processes")
@ResourceLock(TestDevice.PMEM)
class ReplicatedLogIT {
    private static final String ACKNOWLEDGED = "acknowledged ";
    private static final int SIZE = 100;
    private static final int RECORD_LENGTH = LogLayout.recordLength(SIZE);

    private final List<Jvm.Running> started = new ArrayList<>();
    private String address;
    private Path pmem;
    private Path tmpfs;
    private int pmemPort;
    private int tmpfsPort;

    @BeforeEach
    void prepare() throws IOException {
        address = TestDevice.address();
        pmem = TestDevice.pmemOrTmpfs();
        tmpfs = Files.createTempFile(Path.of("/dev/shm"), "log", null);
        pmemPort = TestDevice.port();
        tmpfsPort = TestDevice.port();
    }

    @AfterEach
    void end() throws IOException {
        started.forEach(Jvm.Running::close);
        if (tmpfs != null) {
            Files.delete(tmpfs);
            TestDevice.delete(pmem);
        }
    }

    private Jvm.Running start(String... arguments) {
        Jvm.Running running = Jvm.likeThis().start(ReplicatedLog.class, arguments);
        started.add(running);
        return running;
    }

    private Jvm.Running replica(Path memory, int port, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "replica", "--address", address, "--port", Integer.toString(port), "--memory", memory.toString()));
        arguments.addAll(Arrays.asList(more));
        return start(arguments.toArray(String[]::new));
    }

    private void awaitListening(Jvm.Running replica, int port) throws InterruptedException {
        replica.awaitLine("listening on " + address + ":" + port);
    }

    /** Starts both replicas with empty logs. Most machines map device DAX in multiples of 2 MiB. */
    private List<Jvm.Running> emptyReplicas(String size) throws InterruptedException {
        List<Jvm.Running> replicas =
                List.of(replica(pmem, pmemPort, "--size", size, "--format"), replica(tmpfs, tmpfsPort, "--size", size));
        awaitListening(replicas.get(0), pmemPort);
        awaitListening(replicas.get(1), tmpfsPort);
        return replicas;
    }

    private Jvm.Running appender(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "append",
                "--replica",
                address + ":" + pmemPort,
                "--replica",
                address + ":" + tmpfsPort,
                "--timeout",
                "120"));
        arguments.addAll(Arrays.asList(more));
        return start(arguments.toArray(String[]::new));
    }

    private static void kill(Jvm.Running jvm) throws InterruptedException {
        jvm.kill();
        jvm.awaitEnd();
    }

    private static void terminate(List<Jvm.Running> replicas) throws InterruptedException {
        replicas.forEach(Jvm.Running::terminate);
        for (Jvm.Running replica : replicas) {
            Jvm.Finished end = replica.awaitEnd();
            assertThat(end.status()).as(end.toString()).isZero();
        }
    }

    /** Returns the rest of each line of an appender that begins with "acknowledged". */
    private static List<String> acknowledged(Jvm.Finished end) {
        return end.out()
                .lines()
                .filter(line -> line.startsWith(ACKNOWLEDGED))
                .map(line -> line.substring(ACKNOWLEDGED.length()))
                .collect(Collectors.toList());
    }

    private static List<String> acknowledgedByAll(Jvm.Running appender) throws InterruptedException {
        Jvm.Finished end = appender.awaitEnd();
        assertThat(end.status()).as(end.toString()).isZero();
        return acknowledged(end);
    }

    private static List<String> records(Path memory) throws IOException, InterruptedException {
        List<String> records = new ArrayList<>();
        try (RpmaMemory mapped = RpmaMemory.mapReadOnly(memory)) {
            LocalLog.open(mapped)
                    .read((sequence, record, end) -> records.add(StandardCharsets.UTF_8
                            .decode(LogLayout.payload(record))
                            .toString()));
        }
        return records;
    }

    /** Returns the text of a record that an appender has acknowledged as "SEQUENCE WRITER NUMBER". */
    private static String text(String acknowledged) {
        String[] numbers = acknowledged.split(" ");
        return Writers.text(Integer.parseInt(numbers[1]), Integer.parseInt(numbers[2]), SIZE);
    }

    @Test
    @Tag("persistent-memory-too")
    @Tag("library")
    void bothReplicasAreKilledInTheMiddle() throws Exception {
        int writers = 4;
        int records = 1500;
        List<Jvm.Running> replicas = emptyReplicas("4M");
        Jvm.Running appender = appender("--writers", Integer.toString(writers), "--records", Integer.toString(records));

        appender.awaitLine(ACKNOWLEDGED + "300 ");
        kill(replicas.get(1));
        appender.awaitLine("lost " + address + ":" + tmpfsPort);
        Jvm.Running tmpfsAgain = replica(tmpfs, tmpfsPort);
        assertThat(recovered(tmpfsAgain)).isGreaterThanOrEqualTo(300);

        appender.awaitLine(ACKNOWLEDGED + "2500 ");
        kill(replicas.get(0));
        appender.awaitLine("lost " + address + ":" + pmemPort);
        Jvm.Running pmemAgain = replica(pmem, pmemPort, "--size", "4M");
        assertThat(recovered(pmemAgain)).isGreaterThanOrEqualTo(2500);

        List<String> acknowledged = acknowledgedByAll(appender);
        assertThat(acknowledged).hasSize(writers * records);
        for (int i = 0; i < acknowledged.size(); i++) {
            assertThat(acknowledged.get(i)).startsWith(i + 1 + " ");
        }
        List<String> log = records(pmem);
        assertThat(log).doesNotHaveDuplicates();
        assertThat(log)
                .isEqualTo(acknowledged.stream().map(ReplicatedLogIT::text).collect(Collectors.toList()));
        assertThat(records(tmpfs)).isEqualTo(log);
        terminate(List.of(pmemAgain, tmpfsAgain));
    }

    /** Returns the number of records that a replica found at its start. */
    private static int recovered(Jvm.Running replica) throws InterruptedException {
        return Integer.parseInt(replica.awaitLine("recovered ").split(" ")[1]);
    }

    @Test
    @Tag("persistent-memory-too")
    void bothReplicasStartWithDifferentTails() throws Exception {
        List<Jvm.Running> replicas = emptyReplicas("2M");
        assertThat(acknowledgedByAll(appender("--records", "10"))).hasSize(10);
        terminate(replicas);

        // As if the appender had died before it committed the last three records in tmpfs.
        int tail = 7 * RECORD_LENGTH;
        try (FileChannel file = FileChannel.open(tmpfs, StandardOpenOption.WRITE)) {
            ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.write(word.putLong(0, tail), LogLayout.TAIL_OFFSET);
            file.write(ByteBuffer.allocate(SIZE), LogLayout.RECORDS + tail + 8);
        }
        Jvm.Running pmemAgain = replica(pmem, pmemPort, "--size", "2M");
        Jvm.Running tmpfsAgain = replica(tmpfs, tmpfsPort, "--show");
        pmemAgain.awaitLine("recovered 10 records, tail " + 10 * RECORD_LENGTH);
        tmpfsAgain.awaitLine("recovered 7 records, tail " + tail);
        tmpfsAgain.awaitLine("7 100 " + Writers.text(1, 7, SIZE));

        Jvm.Running appender = appender("--stdin");
        try (OutputStream lines = appender.process().getOutputStream()) {
            lines.write("one\ntwo\n".getBytes(StandardCharsets.UTF_8));
            lines.flush();
            appender.awaitLine(ACKNOWLEDGED + "12 1 2");
            lines.write("three".getBytes(StandardCharsets.UTF_8));
        }
        assertThat(acknowledgedByAll(appender)).containsExactly("11 1 1", "12 1 2", "13 1 3");
        assertThat(records(pmem))
                .hasSize(13)
                .startsWith(Writers.text(1, 1, SIZE))
                .endsWith("one", "two", "three");
        assertThat(records(tmpfs)).isEqualTo(records(pmem));
        terminate(List.of(pmemAgain, tmpfsAgain));
    }

    @Test
    void anAppenderIsKilled() throws Exception {
        List<Jvm.Running> replicas = emptyReplicas("4M");
        Jvm.Running first = appender("--writers", "2", "--records", "10000");
        first.awaitLine(ACKNOWLEDGED + "100 ");
        first.kill();
        List<String> acknowledged = new ArrayList<>(acknowledged(first.awaitEnd()));
        acknowledged.addAll(acknowledgedByAll(appender("--writers", "2", "--records", "50")));
        List<String> log = records(pmem);
        assertThat(records(tmpfs)).isEqualTo(log);
        for (String each : acknowledged) {
            int sequence = Integer.parseInt(each.split(" ")[0]);
            assertThat(log.get(sequence - 1)).isEqualTo(text(each));
        }
        terminate(replicas);
    }

    @Test
    void whatCanNotBeAcknowledgedIsAFailure() throws Exception {
        List<Jvm.Running> replicas = emptyReplicas("2M");
        Jvm.Finished end = Jvm.likeThis()
                .under("sh", "-c", "exec \"$@\" >/dev/full", "sh")
                .run(
                        ReplicatedLog.class,
                        "append",
                        "--replica",
                        address + ":" + pmemPort,
                        "--replica",
                        address + ":" + tmpfsPort);
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("replicatedlog append: the standard output can't be written\n");
        terminate(replicas);
    }

    @Test
    void whatDoesNotFitIsNotBegun() throws Exception {
        List<Jvm.Running> replicas = emptyReplicas("2M");
        Jvm.Finished end = appender("--records", "100", "--size", "64k").awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).contains("the log is full").contains("nothing was appended");
        assertThat(acknowledged(end)).isEmpty();
        assertThat(records(pmem)).isEmpty();
        terminate(replicas);
    }
}
