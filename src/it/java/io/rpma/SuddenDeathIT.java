// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.rpma.programs.PartnerProgram;
import io.rpma.programs.SuddenDeathProgram;
import io.rpma.testing.Guest;
import io.rpma.testing.Limit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The other side of a connection dies at random moments of each phase, as a process or as a host. Each call of the
 * survivor ends within its time limit, {@code close()} returns, nothing is left, and the same JVM connects again.
 */
@Tag("hosts")
class SuddenDeathIT {
    private static final int DEATHS = Integer.getInteger("rpma.deaths", Boolean.getBoolean("rpma.long") ? 100 : 5);
    /** Each death of this number is the death of the host. */
    private static final int HOST = 5;

    private static final String ARGUMENTS = "10.0.0.1 7206";
    private static final String START = Guest.java(PartnerProgram.class, ARGUMENTS) + " &";

    /** The shell of the survivor's guest passes on the rounds, and remains free for a diagnosis. */
    private static final String SURVIVE = "mkfifo /tmp/rounds; " + Guest.java(SuddenDeathProgram.class, ARGUMENTS)
            + " </tmp/rounds & exec 3>/tmp/rounds";

    /** The pause makes the moment of a death random. An iteration of a phase takes up to some 10 ms. */
    private static final int PAUSE_MS = 200;

    @TempDir
    private Path directory;

    private Guest partner;
    private Guest survivor;

    @AfterEach
    void end() {
        for (Guest guest : new Guest[] {survivor, partner}) {
            if (guest != null) {
                guest.close();
            }
        }
    }

    @Test
    void thePartnerDies() throws IOException, InterruptedException {
        long seed = Long.getLong("rpma.random.seed", new Random().nextLong());
        System.out.println("SuddenDeathIT: " + DEATHS + " deaths with -Drpma.random.seed=" + seed);
        Random random = new Random(seed);
        List<String> rounds = rounds(random);
        bootPartner();
        survivor = Guest.boot(directory, 2, "sh");
        survivor.enter(SURVIVE);
        int listening = 1;
        for (int death = 1; death <= DEATHS; death++) {
            pass(rounds.get(death % rounds.size()));
            await(survivor, SuddenDeathProgram.BEGIN, death);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(PAUSE_MS)));
            pass(SuddenDeathProgram.DYING);
            await(survivor, SuddenDeathProgram.DYING, death);
            boolean host = death % HOST == 0;
            if (host) {
                Guest.cutPower(partner);
                bootPartner();
                listening = 1;
            } else {
                partner.enter("kill -KILL $!; wait; " + START);
                await(partner, PartnerProgram.LISTENING, ++listening);
            }
            pass(SuddenDeathProgram.REPLACED);
            String end = await(survivor, SuddenDeathProgram.END, death);
            System.out.println((host ? "host, " : "process, ") + end);
            if (!end.startsWith(SuddenDeathProgram.SURVIVED)) {
                failWithDiagnosis(end);
            }
        }
        survivor.enter("exec 3>&-; wait $!; exit");
        assertEquals(0, survivor.command().awaitEnd().status());
    }

    private void bootPartner() throws IOException, InterruptedException {
        partner = Guest.boot(directory, 1, "sh");
        partner.enter(START);
        await(partner, PartnerProgram.LISTENING, 1);
    }

    /** Enters a line for the survivor. */
    private void pass(String line) throws InterruptedException {
        survivor.enter("echo " + line + " >&3");
    }

    private String await(Guest guest, String text, int count) throws InterruptedException {
        String line = guest.command().awaitLine(text, count, Limit.WAIT);
        return line != null ? line : failWithDiagnosis("not " + count + " lines with '" + text + "'");
    }

    private String failWithDiagnosis(String message) throws InterruptedException {
        String survivors = survivor == null ? "" : "survivor:\n" + survivor.diagnosis();
        return fail(message + "\n" + survivors + "partner:\n" + partner.diagnosis());
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
