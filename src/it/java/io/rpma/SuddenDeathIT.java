package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.PartnerProgram;
import io.rpma.programs.SuddenDeathProgram;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The other side of a connection dies at random moments of each phase, as a process or as a host. Each call of the survivor ends
 * within its time limit, {@code close()} returns, nothing is left, and the same JVM connects again.
 */
@Tag("guests")
@Timeout(3600)
class SuddenDeathIT {
    private static final int DEATHS = Integer.getInteger("rpma.deaths", Boolean.getBoolean("rpma.long") ? 100 : 5);
    /** Each death of this number is the death of the host. */
    private static final int HOST = 5;

    private static final String ARGUMENTS = "10.0.0.1 7206";
    private static final String START = Guest.java(PartnerProgram.class, ARGUMENTS) + " &";

    /** The pause makes the moment of a death random. An iteration of a phase takes up to some 10 ms. */
    private static final int PAUSE_MS = 200;

    @TempDir
    private Path directory;

    private Guest bootPartner() throws IOException, InterruptedException {
        Guest partner = Guest.boot(directory, 1, "sh");
        partner.enter(START);
        partner.command().awaitLine(PartnerProgram.LISTENING);
        return partner;
    }

    @Test
    void thePartnerDies() throws IOException, InterruptedException {
        long seed = Long.getLong("rpma.random.seed", new Random().nextLong());
        System.out.println("SuddenDeathIT: " + DEATHS + " deaths with -Drpma.random.seed=" + seed);
        Random random = new Random(seed);
        List<String> rounds = rounds(random);
        Guest partner = bootPartner();
        int listening = 1;
        try (Guest survivor = Guest.boot(directory, 2, Guest.java(SuddenDeathProgram.class, ARGUMENTS))) {
            for (int death = 1; death <= DEATHS; death++) {
                survivor.enter(rounds.get(death % rounds.size()));
                survivor.command().awaitLine(SuddenDeathProgram.BEGIN, death);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(PAUSE_MS)));
                if (death % HOST == 0) {
                    Guest.cutPower(partner);
                    partner = bootPartner();
                    listening = 1;
                } else {
                    partner.enter("kill -KILL $!; wait; " + START);
                    partner.command().awaitLine(PartnerProgram.LISTENING, ++listening);
                }
                String end = survivor.command().awaitLine(SuddenDeathProgram.END, death);
                System.out.println((death % HOST == 0 ? "host, " : "process, ") + end);
                assertTrue(end.startsWith(SuddenDeathProgram.SURVIVED), end);
            }
            survivor.enter();
            assertEquals(0, survivor.command().awaitEnd().status());
        } finally {
            partner.close();
        }
    }

    /** Each package with each phase, in random order. */
    private static List<String> rounds(Random random) {
        List<String> rounds = new ArrayList<>();
        for (SuddenDeathProgram.Phase phase : SuddenDeathProgram.Phase.values()) {
            for (String library : SuddenDeathProgram.LIBRARIES) {
                rounds.add(library + " " + phase);
            }
        }
        Collections.shuffle(rounds, random);
        return rounds;
    }
}
