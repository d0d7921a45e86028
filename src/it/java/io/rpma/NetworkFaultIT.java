// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.NetworkFaultProgram;
import io.rpma.programs.PartnerProgram;
import io.rpma.testing.Guest;
import io.rpma.testing.Limit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two hosts transfer bytes through a network with faults. The bytes arrive unchanged, or a failure is reported within
 * the time limit. {@code close()} returns, nothing is left, and the same JVM connects again after the fault.
 */
@Tag("hosts")
class NetworkFaultIT {
    private static final int SECONDS =
            Integer.getInteger("rpma.fault.seconds", Boolean.getBoolean("rpma.long") ? 30 : 1);
    private static final String SET = "set";
    private static final String ARGUMENTS = "10.0.0.1 7208";
    private static final String CLIENT =
            NetworkFaultProgram.REPAIR + "; " + Guest.java(NetworkFaultProgram.class, ARGUMENTS + " " + SECONDS);

    /** The faults of the packets in both directions: see tc-netem(8). */
    private static final List<String> PACKETS = List.of(
            "loss 0.5%",
            "loss 2%", "loss 10%", "delay 10ms reorder 98%", "duplicate 10%", "corrupt 2%", "delay 200ms limit 10000");

    /**
     * The faults in which each package completes a transfer. No packet is lost, or so few that two transfers in
     * succession fail only once in thousands of runs: only a flush or an atomic write that is sent again fails, after
     * half a second.
     */
    private static final List<String> MILD = List.of("loss 0.5%", "duplicate 10%", "delay 200ms limit 10000");

    private static final String COMPLETED = "[1-9]\\d* transfers by \\S+, failures \\{%s}, [^;]*";

    /**
     * No packets for a time that is shorter and one that is longer than the time limits, and no fault in the end. The
     * interface stays up: the driver of user-mode Linux can't bring the link up again.
     */
    private static final List<String> LINK =
            List.of(interruption("0.5"), interruption("8"), NetworkFaultProgram.REPAIR);

    @TempDir
    private Path directory;

    @Test
    void theNetworkHasFaults() throws IOException, InterruptedException {
        try (Guest partner = Guest.boot(directory, 1, "sh");
                Guest client = Guest.boot(directory, 2, CLIENT)) {
            startPartner(partner);
            int round = 0;
            for (String packets : PACKETS) {
                String fault = NetworkFaultProgram.FAULT + packets;
                String line = run(client, fault, partner, fault, ++round);
                if (MILD.contains(packets)) {
                    assertCompleted(".*", line);
                }
            }
            String last = "";
            for (String fault : LINK) {
                last = run(client, fault, partner, NetworkFaultProgram.REPAIR, ++round);
            }
            assertCompleted("", last);
            client.enter();
            assertEquals(0, client.command().awaitEnd().status());
        }
    }

    /**
     * The interface of the partner goes down and comes up again. It is the partner's, because soft-RoCE can't connect
     * any more after a message of the connection manager that it could not send. Persistent memory selects QEMU:
     * user-mode Linux can't bring its interface up again.
     */
    @Test
    void theLinkGoesDownAndUp() throws IOException, InterruptedException {
        try (Guest partner = Guest.boot(directory, 1, directory.resolve("nvdimm1"), "trixie", "sh");
                Guest client = Guest.boot(directory, 2, directory.resolve("nvdimm2"), "trixie", CLIENT)) {
            startPartner(partner);
            run(client, "sleep 4", partner, "ip link set eth0 down && sleep 2 && ip link set eth0 up", 1);
            assertCompleted("", run(client, NetworkFaultProgram.REPAIR, partner, NetworkFaultProgram.REPAIR, 2));
            client.enter();
            assertEquals(0, client.command().awaitEnd().status());
        }
    }

    private static void startPartner(Guest partner) throws InterruptedException {
        partner.enter(NetworkFaultProgram.REPAIR);
        partner.enter(Guest.java(PartnerProgram.class, ARGUMENTS) + " &");
    }

    /** Asserts that each package has completed a transfer. {@code failures} is an expression for the failures. */
    private static void assertCompleted(String failures, String line) {
        String completed = String.format(COMPLETED, failures);
        assertTrue(line.matches(".*: " + completed + "; " + completed), line);
    }

    private static String interruption(String seconds) {
        return NetworkFaultProgram.FAULT + "loss 100%; sleep " + seconds + "; " + NetworkFaultProgram.REPAIR;
    }

    private static String run(Guest client, String clientFault, Guest partner, String partnerFault, int round)
            throws InterruptedException {
        client.enter(clientFault);
        await(client, NetworkFaultProgram.BEGIN, round);
        set(partner, partnerFault, 2 * round - 1);
        String line = await(client, NetworkFaultProgram.END, round);
        set(partner, NetworkFaultProgram.REPAIR, 2 * round);
        System.out.println(line);
        assertTrue(line.startsWith(NetworkFaultProgram.SURVIVED), line);
        return line;
    }

    private static void set(Guest partner, String fault, int count) throws InterruptedException {
        partner.enter(fault + " && echo " + SET);
        await(partner, SET, count);
    }

    private static String await(Guest guest, String text, int count) throws InterruptedException {
        String line = guest.command().awaitLine(text, count, Limit.WAIT);
        assertNotNull(line, () -> "not " + count + " lines with '" + text + "': " + guest.command());
        return line;
    }
}
