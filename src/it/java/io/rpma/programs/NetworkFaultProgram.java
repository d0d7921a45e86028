package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.internal.OpenResources;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Transfers bytes to and from {@link PartnerProgram} while the network has a fault. Each line of the standard input is the shell's
 * command that makes a fault.
 */
public final class NetworkFaultProgram {
    public static final List<String> LIBRARIES = Partner.LIBRARIES;
    public static final String END = Partner.END;
    public static final String SURVIVED = Partner.SURVIVED;
    public static final String BEGIN = "begin";

    /** A link without faults. */
    public static final String REPAIR = "tc qdisc replace dev eth0 root netem";

    private final Partner partner;
    private final long nanos;
    private int transfers;
    private final Map<String, Integer> failures = new TreeMap<>();

    private NetworkFaultProgram(Partner partner, String seconds) {
        this.partner = partner;
        nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(seconds));
    }

    /**
     * @param arguments those of {@link PartnerProgram}, and the seconds of each fault
     */
    public static void main(String[] arguments) throws Exception {
        try (RpmaPeer peer = TestDevice.peer()) {
            Scanner faults = new Scanner(System.in);
            Partner partner = new Partner(peer, arguments);
            partner.recover(Partner.RPMA);
            OpenResources before = OpenResources.now();
            for (String fault = faults.nextLine(); !fault.isEmpty(); fault = faults.nextLine()) {
                for (String library : Partner.LIBRARIES) {
                    new NetworkFaultProgram(partner, arguments[2]).run(library, fault);
                    before.assertSameNow(1);
                }
            }
        }
    }

    private void run(String library, String fault) throws Exception {
        partner.recover(library);
        PartnerClient client = partner.connect(library);
        partner.calls.report();
        Process command = shell(fault);
        System.out.println(BEGIN);
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos || command.isAlive()) {
            try {
                if (client == null) {
                    client = partner.connect(library);
                }
                partner.calls.make("transfer", client::transfer);
                transfers++;
            } catch (ReportedException | RpmaException e) {
                failures.merge(e.getMessage(), 1, Integer::sum);
                if (client != null) {
                    partner.close(client);
                    client = null;
                }
            }
        }
        if (client != null) {
            partner.close(client);
        }
        assertEquals(0, command.waitFor(), fault);
        assertEquals(0, shell(REPAIR).waitFor());
        System.out.println(SURVIVED + "'" + fault + "' by " + library + ": " + transfers + " transfers, failures "
                + failures + "; " + partner.calls.report());
    }

    private static Process shell(String command) throws IOException {
        return new ProcessBuilder("sh", "-c", command).inheritIO().start();
    }
}
