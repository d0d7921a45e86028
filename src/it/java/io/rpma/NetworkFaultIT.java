package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.NetworkFaultProgram;
import io.rpma.programs.PartnerProgram;
import io.rpma.testing.Guest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two hosts transfer bytes through a network with faults. The bytes arrive unchanged, or a failure is reported within the time
 * limit. {@code close()} returns, nothing is left, and the same JVM connects again after the fault.
 */
@Tag("guests")
@Timeout(3600)
class NetworkFaultIT {
    private static final int SECONDS =
            Integer.getInteger("rpma.fault.seconds", Boolean.getBoolean("rpma.long") ? 30 : 1);
    private static final String ARGUMENTS = "10.0.0.1 7208";

    /** The faults of the packets in both directions: see tc-netem(8). */
    private static final List<String> PACKETS = List.of(
            "loss 0.5%",
            "loss 2%", "loss 10%", "delay 10ms reorder 98%", "duplicate 10%", "corrupt 2%", "delay 200ms limit 10000");

    /**
     * No packets for a time that is shorter and one that is longer than the time limits, and no fault in the end. The interface
     * stays up: the driver of user-mode Linux can't bring the link up again.
     */
    private static final List<String> LINK =
            List.of(interruption("0.5"), interruption("8"), NetworkFaultProgram.REPAIR);

    @TempDir
    private Path directory;

    @Test
    void theNetworkHasFaults() throws IOException, InterruptedException {
        String program = Guest.java(NetworkFaultProgram.class, ARGUMENTS + " " + SECONDS);
        try (Guest partner = Guest.boot(directory, 1, "sh");
                Guest client = Guest.boot(directory, 2, NetworkFaultProgram.REPAIR + "; " + program)) {
            partner.enter(NetworkFaultProgram.REPAIR);
            partner.enter(Guest.java(PartnerProgram.class, ARGUMENTS) + " &");
            int ends = 0;
            for (String packets : PACKETS) {
                String fault = NetworkFaultProgram.FAULT + packets;
                run(client, fault, partner, fault, ++ends);
            }
            for (String fault : LINK) {
                run(client, fault, partner, NetworkFaultProgram.REPAIR, ++ends);
            }
            client.enter();
            assertEquals(0, client.command().awaitEnd().status());
        }
    }

    private static String interruption(String seconds) {
        return NetworkFaultProgram.FAULT + "loss 100%; sleep " + seconds + "; " + NetworkFaultProgram.REPAIR;
    }

    private static void run(Guest client, String clientFault, Guest partner, String partnerFault, int end)
            throws InterruptedException {
        client.enter(clientFault);
        client.command().awaitLine(NetworkFaultProgram.BEGIN, end);
        partner.enter(partnerFault);
        String line = client.command().awaitLine(NetworkFaultProgram.END, end);
        partner.enter(NetworkFaultProgram.REPAIR);
        System.out.println(line);
        assertTrue(line.startsWith(NetworkFaultProgram.SURVIVED), line);
    }
}
