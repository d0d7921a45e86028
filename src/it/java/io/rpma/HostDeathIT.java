// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.SurvivorProgram;
import io.rpma.programs.TargetProgram;
import io.rpma.programs.WatcherProgram;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The completions and events that a host gets after another host dies or becomes unreachable. */
@Tag("hosts")
class HostDeathIT {
    private static final String TARGET = "10.0.0.1";
    private static final int PORT = 7204;
    private static final int OTHER_PORT = 7205;

    /** Guests on a busy machine are slow. */
    private static final long MARGIN_S = 60;

    @TempDir
    private Path directory;

    private Guest target;
    private Guest survivor;

    /** Boots a target and a survivor. A line on the standard input of the target cuts the cable. */
    private void boot(Class<?> program, String ready) throws IOException, InterruptedException {
        target = Guest.boot(
                directory,
                1,
                Guest.java(TargetProgram.class, TARGET + " " + PORT) + " & "
                        + Guest.java(TargetProgram.class, TARGET + " " + OTHER_PORT)
                        + " & read line; ip link set eth0 down; wait");
        target.command().awaitLine(TargetProgram.LISTENING, 2);
        survivor = Guest.boot(directory, 2, Guest.java(program, TARGET + " " + PORT + " " + OTHER_PORT));
        survivor.command().awaitLine(ready);
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
    void thePowerOfTheOtherHostIsCut() throws IOException, InterruptedException {
        boot(SurvivorProgram.class, SurvivorProgram.WRITING);
        Guest.cutPower(target);
        assertSurvives();
    }

    @Test
    void theCableIsCut() throws IOException, InterruptedException {
        boot(SurvivorProgram.class, SurvivorProgram.WRITING);
        target.enter();
        assertSurvives();
    }

    @Test
    void aLoopNoticesThePowerCut() throws IOException, InterruptedException {
        bootWatcher();
        long cut = System.nanoTime();
        Guest.cutPower(target);
        assertNoticed(cut);
    }

    @Test
    void aLoopNoticesThatTheCableIsCut() throws IOException, InterruptedException {
        bootWatcher();
        long cut = System.nanoTime();
        target.enter();
        assertNoticed(cut);
    }

    private void bootWatcher() throws IOException, InterruptedException {
        boot(WatcherProgram.class, WatcherProgram.WATCHING);
        assertEquals(List.of(WatcherProgram.WATCHING), survivor.command().lines());
    }

    private void assertNoticed(long cut) throws InterruptedException {
        survivor.command().awaitLine(WatcherProgram.LOST, 2);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - cut);
        assertTrue(seconds <= WatcherProgram.MOST_S + MARGIN_S, seconds + " s");
        String closed = survivor.command().awaitLine(WatcherProgram.CLOSED);
        assertEquals(0, survivor.command().awaitEnd().status());
        System.out.println("lost after " + seconds + " s, " + closed);
    }
}
