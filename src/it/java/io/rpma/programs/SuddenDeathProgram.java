package io.rpma.programs;

import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.internal.OpenResources;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.Scanner;

/**
 * Repeats one phase of a connection to {@link PartnerProgram} until the partner dies, closes everything, and connects to the next
 * partner. Each line of the standard input names the package and the phase of a round.
 */
public final class SuddenDeathProgram {
    public static final String BEGIN = "begin: ";
    public static final List<String> LIBRARIES = Partner.LIBRARIES;
    public static final String END = Partner.END;
    public static final String SURVIVED = Partner.SURVIVED;

    private final Partner partner;
    private boolean begun;

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

    private SuddenDeathProgram(Partner partner) {
        this.partner = partner;
    }

    /**
     * @param arguments those of {@link PartnerProgram}
     */
    public static void main(String[] arguments) throws InterruptedException, ReportedException {
        try (RpmaPeer peer = TestDevice.peer()) {
            Scanner rounds = new Scanner(System.in);
            Partner partner = new Partner(peer, arguments);
            partner.recover(Partner.RPMA);
            OpenResources before = OpenResources.now();
            for (String round = rounds.nextLine(); !round.isEmpty(); round = rounds.nextLine()) {
                String[] libraryAndPhase = round.split(" ");
                new SuddenDeathProgram(partner).round(libraryAndPhase[0], Phase.valueOf(libraryAndPhase[1]));
                before.assertSameNow(1);
            }
        }
    }

    private void round(String library, Phase phase) throws InterruptedException, ReportedException {
        String death;
        try {
            repeat(library, phase);
            throw new AssertionError("the partner is alive");
        } catch (ReportedException | RpmaException e) {
            if (!begun) {
                throw e;
            }
            death = e.getMessage();
        }
        partner.recover(library);
        System.out.println(SURVIVED + phase + " by " + library + ": " + death + "; " + partner.calls.report());
    }

    /** Returns never. */
    private void repeat(String library, Phase phase) throws InterruptedException, ReportedException {
        while (true) {
            PartnerClient client = partner.connect(library);
            try {
                do {
                    partner.calls.make("phase", () -> phase.step.take(client));
                    begin();
                } while (phase.repeatable);
            } finally {
                partner.close(client);
            }
        }
    }

    private void begin() {
        if (!begun) {
            System.out.println(BEGIN);
            begun = true;
        }
    }
}
