// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.examples.replicate.Replicate;
import io.rpma.examples.replicatedlog.ReplicatedLog;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The power of a host is cut at random moments while another one writes into its persistent memory. */
@Tag("power-cuts")
@Timeout(36_000) // for a long run; each guest has a limit of its own, which also ends a hang
class PowerCutIT {
    private static final int CUTS = Integer.getInteger("rpma.cuts", Boolean.getBoolean("rpma.long") ? 20 : 2);

    /** The cuts of one log: the replica shows all its records after each cut, and a guest lives for a limited time. */
    private static final int CUTS_OF_A_LOG = 20;

    private static final String TARGET_IMAGE = System.getProperty("rpma.target.image", "trixie");
    private static final String TARGET = "10.0.0.1";
    private static final String OTHER = "10.0.0.2";
    private static final String ACKNOWLEDGED = "acknowledged ";
    private static final Pattern RECORD = Pattern.compile("(\\d+) \\d+ writer (\\d+) record (\\d+)\\b.*");

    @TempDir
    private Path directory;

    private Random random;

    @BeforeEach
    void seed() {
        long seed = Long.getLong("rpma.random.seed", new Random().nextLong());
        System.out.println("PowerCutIT: " + CUTS + " cuts with -Drpma.random.seed=" + seed);
        random = new Random(seed);
    }

    /** Boots the host whose persistent memory survives the cut. */
    private Guest bootTarget(String command) throws IOException {
        return Guest.boot(directory, 1, nvdimm(), TARGET_IMAGE, command);
    }

    private Path nvdimm() {
        return directory.resolve("nvdimm");
    }

    private Guest bootOther(String command) throws IOException {
        return Guest.boot(directory, 2, command);
    }

    /**
     * Boots the other host for a transfer that has to succeed. Persistent memory excludes user-mode Linux, where a
     * transfer to a guest of QEMU stopped twice; docs/decisions.md has the facts.
     */
    private Guest bootReliableOther(String command) throws IOException {
        return Guest.boot(directory, 2, directory.resolve("nvdimm-of-the-other"), "trixie", command);
    }

    /** The pause makes the moment of the cut random; nothing waits for it. */
    private void pauseUpTo(int millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(millis)));
    }

    /**
     * A receiver's memory holds the whole file or none, and the whole file if the sender has reported its replication.
     */
    @Test
    void ofTheDemosReceiver() throws IOException, InterruptedException {
        Path file = Files.createTempFile(Path.of("target"), "power-cut", null);
        byte[] content = new byte[8 << 20];
        random.nextBytes(content);
        Files.write(file, content);
        String receiver = Guest.java(Replicate.class, "check --memory $RPMA_PMEM") + "; echo checked $?; "
                + Guest.java(Replicate.class, "receive --memory $RPMA_PMEM --timeout 120 --address " + TARGET)
                + "; read line"; // a host outlives its program: the power may be cut after the transfer
        String sender = Guest.java(Replicate.class, "send --address " + TARGET + " " + file)
                + "; status=$?; [ $status = 0 ] || (cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep '[1-9]' *)"
                + "; echo ended $status; read line";
        boolean wasReplicated = false;
        try {
            for (int cuts = 0; cuts <= CUTS; cuts++) {
                try (Guest receiving = bootTarget(receiver)) {
                    String checked = receiving.command().awaitLine("checked ");
                    boolean nothing = checked.equals("checked 3") && !wasReplicated;
                    assertTrue(checked.equals("checked 0") || nothing, checked);
                    if (cuts == CUTS) {
                        break;
                    }
                    receiving.command().awaitLine("listening");
                    wasReplicated = cutWhileSending(receiving, sender, cuts == 0);
                }
            }
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Cuts the power of both hosts, the receiver's first, without a pause: a soft-RoCE that closes the connection to a
     * dead host may crash its own kernel before the test cuts its power.
     *
     * @param complete whether to wait for the end of the transfer, so that its content has to survive
     * @return whether the sender reported that the file is replicated
     */
    private boolean cutWhileSending(Guest receiving, String sender, boolean complete)
            throws IOException, InterruptedException {
        try (Guest sending = complete ? bootReliableOther(sender) : bootOther(sender)) {
            receiving.command().awaitLine("a sender has connected");
            if (complete) {
                assertEquals(
                        "ended 0",
                        sending.command().awaitLine("ended "),
                        () -> "sender: " + sending.command() + "receiver: " + receiving.command());
            } else {
                pauseUpTo(3000);
            }
            Guest.cutPower(receiving, sending);
            return sending.command().awaitEnd().out().contains("the file is replicated");
        }
    }

    /** A log has every record that was acknowledged before the cut, in its place and whole. */
    @Test
    void ofAReplicaOfTheLog() throws IOException, InterruptedException {
        int records = 0;
        for (int done = 0; done < CUTS; done += CUTS_OF_A_LOG) {
            int cuts = Math.min(CUTS_OF_A_LOG, CUTS - done);
            Files.deleteIfExists(nvdimm());
            records += cutPowerOfAReplica(cuts);
            System.out.println("PowerCutIT: " + (done + cuts) + " cuts, " + records + " records were acknowledged");
        }
    }

    /** Returns how many records were acknowledged. */
    private int cutPowerOfAReplica(int times) throws IOException, InterruptedException {
        String replica = Guest.java(ReplicatedLog.class, "replica --show --memory $RPMA_PMEM --address " + TARGET);
        String appender = Guest.java(ReplicatedLog.class, "replica --memory auto --address " + OTHER) + " & "
                + Guest.java(
                        ReplicatedLog.class,
                        "append --timeout 600 --writers 4 --records 100000 --replica " + TARGET + " --replica "
                                + OTHER);
        try (Guest appending = bootOther(appender)) {
            List<String> acknowledged = List.of();
            for (int cuts = 0; cuts <= times; cuts++) {
                try (Guest replicating = bootTarget(replica)) {
                    replicating.command().awaitLine("listening");
                    assertHasAll(acknowledged, replicating.command().lines());
                    if (cuts == times) {
                        break;
                    }
                    appending.command().awaitLine(ACKNOWLEDGED, acknowledged.size() + 1 + random.nextInt(300));
                    pauseUpTo(1000);
                    Guest.cutPower(replicating);
                }
                acknowledged = lines(appending.command().lines(), ACKNOWLEDGED);
            }
            return acknowledged.size();
        }
    }

    private static List<String> lines(List<String> output, String start) {
        return output.stream().filter(line -> line.startsWith(start)).collect(Collectors.toList());
    }

    /** Compares "acknowledged SEQUENCE WRITER NUMBER" with "SEQUENCE LENGTH writer WRITER record NUMBER ...". */
    private static void assertHasAll(List<String> acknowledged, List<String> shown) {
        Map<String, String> records = new HashMap<>();
        for (String line : shown) {
            Matcher record = RECORD.matcher(line);
            if (record.matches()) {
                records.put(record.group(1), record.group(2) + " " + record.group(3));
            }
        }
        for (String line : acknowledged) {
            String[] words = line.split(" ");
            assertEquals(words[2] + " " + words[3], records.get(words[1]), "record " + words[1]);
        }
    }
}
