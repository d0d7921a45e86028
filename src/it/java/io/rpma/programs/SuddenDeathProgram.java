// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.internal.OpenResources;
import io.rpma.testing.TestDevice;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Repeats one phase of a connection to {@link PartnerProgram} until the partner dies, closes everything, and connects
 * to the next partner. Each round has three lines on the standard input: the package and the phase, {@link #DYING}
 * before the death, which this program repeats, and {@link #REPLACED} when the next partner listens. A failure before
 * the death is a defect.
 */
public final class SuddenDeathProgram {
    public static final String BEGIN = "begin: ";
    public static final String DYING = "dying";
    public static final String REPLACED = "replaced";
    public static final List<String> LIBRARIES = Partner.LIBRARIES;
    public static final String END = Partner.END;
    public static final String SURVIVED = Partner.SURVIVED;

    private final Partner partner;
    private final BufferedReader input;
    private boolean begun;
    private boolean dying;
    private boolean replaced;

    /** A phase of a connection. */
    public enum Phase {
        CONNECT(false, client -> {}),
        REGISTER(true, PartnerClient::register),
        WRITE(true, PartnerClient::write),
        READ(true, PartnerClient::read),
        FLUSH(true, PartnerClient::flush),
        ATOMIC_WRITE(true, client -> client.atomicWrite(1)),
        SEND_AND_RECEIVE(true, PartnerClient::exchange),
        DISCONNECT(false, PartnerClient::disconnect),
        CLOSE(false, client -> client.postWrite(PartnerClient.SIZE));

        private final boolean repeatable;
        private final Step step;

        Phase(boolean repeatable, Step step) {
            this.repeatable = repeatable;
            this.step = step;
        }
    }

    private interface Step {
        void take(PartnerClient client) throws InterruptedException, ReportedException;
    }

    private SuddenDeathProgram(Partner partner, BufferedReader input) {
        this.partner = partner;
        this.input = input;
    }

    /**
     * @param arguments those of {@link PartnerProgram}
     */
    public static void main(String[] arguments) throws IOException, InterruptedException, ReportedException {
        try (RpmaPeer peer = TestDevice.peer()) {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            Partner partner = new Partner(peer, false, arguments);
            partner.recover(Partner.RPMA);
            OpenResources before = OpenResources.now();
            for (String round = input.readLine(); round != null; round = input.readLine()) {
                String[] libraryAndPhase = round.split(" ");
                String end = new SuddenDeathProgram(partner, input)
                        .round(libraryAndPhase[0], Phase.valueOf(libraryAndPhase[1]));
                before.assertSameNow(1);
                System.out.println(SURVIVED + round + ": " + end + "; " + partner.calls.report());
            }
        }
    }

    /** Returns the failure that ended the phase. */
    private String round(String library, Phase phase) throws IOException, InterruptedException, ReportedException {
        String failure = "no failure";
        try {
            repeat(library, phase);
        } catch (ReportedException | RpmaException e) {
            if (!dying) {
                throw e;
            }
            failure = e.getMessage();
        }
        partner.recover(library);
        if (!replaced) {
            assertEquals(REPLACED, input.readLine());
        }
        return failure;
    }

    /**
     * Repeats the phase until a failure. If the host of the partner dies while this side connects or disconnects, the
     * next host can answer, because the connection manager sends its message again. So the phases that connect each
     * time also end when the partner is replaced.
     */
    private void repeat(String library, Phase phase) throws IOException, InterruptedException, ReportedException {
        do {
            PartnerClient client = partner.connect(library);
            try {
                if (phase.repeatable) {
                    partner.calls.make("transfer", client::transfer);
                }
                do {
                    partner.calls.make("phase", () -> phase.step.take(client));
                    begin();
                    readLines();
                } while (phase.repeatable);
            } finally {
                partner.close(client);
            }
        } while (!replaced);
    }

    /** Reads the lines that have arrived. */
    private void readLines() throws IOException {
        while (input.ready()) {
            if (dying) {
                assertEquals(REPLACED, input.readLine());
                replaced = true;
                return;
            }
            assertEquals(DYING, input.readLine());
            dying = true;
            System.out.println(DYING);
        }
    }

    private void begin() {
        if (!begun) {
            System.out.println(BEGIN);
            begun = true;
        }
    }
}
