package io.rpma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.examples.replicate.Replicate;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The power of a host is cut at random moments while another one writes into its persistent memory. */
@Tag("two-hosts")
@Timeout(3600)
class PowerCutIT {
    private static final int CUTS = Integer.getInteger("rpma.cuts", Boolean.getBoolean("rpma.long") ? 20 : 3);
    private static final String TARGET = "10.0.0.1";

    @TempDir
    private Path directory;

    private Random random;

    @BeforeEach
    void seed() {
        long seed = Long.getLong("rpma.random.seed", new Random().nextLong());
        System.out.println("PowerCutIT: " + CUTS + " cuts with -Drpma.random.seed=" + seed);
        random = new Random(seed);
    }

    private Guest boot(int side, String command) throws IOException {
        return Guest.boot(directory, side, directory.resolve("nvdimm" + side), command);
    }

    /** Not to wait for anything: the moments are random. */
    private void pauseUpTo(int millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(millis)));
    }

    /** A receiver's memory holds the whole of a file or none, and the whole if the sender has been told so. */
    @Test
    void ofTheDemosReceiver() throws IOException, InterruptedException {
        Path file = Files.createTempFile(Path.of("target"), "power-cut", null);
        byte[] content = new byte[8 << 20];
        random.nextBytes(content);
        Files.write(file, content);
        String receiver = Guest.java(Replicate.class, "check --memory $RPMA_PMEM") + "; echo checked $?; "
                + Guest.java(Replicate.class, "receive --memory $RPMA_PMEM --timeout 120 --address " + TARGET);
        String sender = "while read line; do "
                + Guest.java(Replicate.class, "send --timeout 10 --address " + TARGET + " " + file)
                + "; echo ended $?; done";
        try (Guest sending = boot(2, sender)) {
            boolean wasComplete = false;
            for (int cut = 0; cut <= CUTS; cut++) {
                try (Guest receiving = boot(1, receiver)) {
                    String checked = receiving.command().awaitLine("checked ");
                    boolean nothing = checked.equals("checked 3") && !wasComplete;
                    assertTrue(checked.equals("checked 0") || nothing, checked);
                    receiving.command().awaitLine("listening");
                    sending.command().process().outputWriter().append('\n').flush();
                    receiving.command().awaitLine("a sender has connected");
                    pauseUpTo(3000);
                    receiving.cutPower();
                }
                wasComplete = sending.command().awaitLine("ended ", cut + 1).equals("ended 0");
            }
        } finally {
            Files.delete(file);
        }
    }
}
