package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.SurvivorProgram;
import io.rpma.programs.TargetProgram;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The completions and events that a host gets after another host dies or becomes unreachable. */
@Tag("guests")
@Timeout(300)
class HostDeathIT {
    private static final String TARGET = "10.0.0.1";
    private static final int PORT = 7204;

    @TempDir
    private Path directory;

    private Guest target;
    private Guest survivor;

    @BeforeEach
    void boot() throws IOException, InterruptedException {
        // a line on its standard input cuts the cable
        target = Guest.boot(
                directory,
                1,
                Guest.java(TargetProgram.class, TARGET + " " + PORT) + " & read line; ip link set eth0 down; wait");
        target.command().awaitLine(TargetProgram.LISTENING);
        survivor = Guest.boot(directory, 2, Guest.java(SurvivorProgram.class, TARGET + " " + PORT));
        survivor.command().awaitLine(SurvivorProgram.WRITING);
    }

    @AfterEach
    void end() {
        for (Guest guest : new Guest[] {survivor, target}) {
            if (guest != null) {
                guest.close();
            }
        }
    }

    private void assertSurvives() throws InterruptedException {
        String lost = survivor.command().awaitLine(SurvivorProgram.LOST);
        // librpma sets the retry count to 7, the maximum, with which soft-RoCE retries indefinitely
        assertTrue(
                lost.contains(RpmaWcStatus.RETRY_EXC_ERR.toString()) || lost.contains(SurvivorProgram.NOTHING), lost);
        String closed = survivor.command().awaitLine(SurvivorProgram.CLOSED);
        System.out.println(lost + ", " + closed);
        assertEquals(0, survivor.command().awaitEnd().status());
    }

    @Test
    void thePowerOfTheOtherHostIsCut() throws InterruptedException {
        Guest.cutPower(target);
        assertSurvives();
    }

    @Test
    void theCableIsCut() throws InterruptedException {
        target.enter();
        assertSurvives();
    }
}
