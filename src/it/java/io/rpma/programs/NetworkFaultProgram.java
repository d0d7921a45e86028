// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.internal.OpenResources;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Transfers bytes to and from {@link PartnerProgram} with both packages at the same time while the network has a fault.
 * Each line of the standard input is the shell's command that makes a fault.
 */
public final class NetworkFaultProgram {
    public static final String BEGIN = "begin";
    public static final String END = Partner.END;
    public static final String SURVIVED = Partner.SURVIVED;

    /** The start of a command that makes a fault. */
    public static final String FAULT = "tc qdisc replace dev eth0 root netem ";

    /** A link without faults. netem keeps the corruption of the fault before if a command does not name it. */
    public static final String REPAIR = FAULT + "corrupt 0%";

    private final Partner partner;
    private final String library;
    private PartnerClient client;

    private NetworkFaultProgram(Partner partner, String library) {
        this.partner = partner;
        this.library = library;
    }

    /**
     * @param arguments those of {@link PartnerProgram}, and the seconds of each fault
     */
    public static void main(String[] arguments) throws Exception {
        long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2]));
        ExecutorService threads = Executors.newFixedThreadPool(Partner.LIBRARIES.size());
        try (RpmaPeer peer = TestDevice.peer()) {
            List<NetworkFaultProgram> programs = new ArrayList<>();
            for (String library : Partner.LIBRARIES) {
                Partner partner = new Partner(peer, true, arguments);
                partner.recover(library);
                programs.add(new NetworkFaultProgram(partner, library));
            }
            OpenResources before = OpenResources.now();
            Scanner faults = new Scanner(System.in);
            for (String fault = faults.nextLine(); !fault.isEmpty(); fault = faults.nextLine()) {
                run(programs, threads, fault, nanos);
                before.assertSameNow(programs.size());
            }
        } finally {
            threads.shutdown();
        }
    }

    private static void run(List<NetworkFaultProgram> programs, ExecutorService threads, String fault, long nanos)
            throws Exception {
        for (NetworkFaultProgram program : programs) {
            program.connect();
        }
        Process command = shell(fault);
        System.out.println(BEGIN);
        List<Future<String>> reports = new ArrayList<>();
        for (NetworkFaultProgram program : programs) {
            reports.add(threads.submit(() -> program.transfer(command, nanos)));
        }
        StringJoiner report = new StringJoiner("; ", SURVIVED + "'" + fault + "': ", "");
        for (Future<String> end : reports) {
            report.add(end.get());
        }
        assertEquals(0, command.waitFor(), fault);
        assertEquals(0, shell(REPAIR).waitFor());
        System.out.println(report);
    }

    private void connect() throws InterruptedException, ReportedException {
        partner.recover(library);
        client = partner.connect(library);
        partner.calls.report();
    }

    /** Transfers until the time is over and the command has ended. After a failure, transfers over a new connection. */
    private String transfer(Process command, long nanos) throws InterruptedException, ReportedException {
        int transfers = 0;
        Map<String, Integer> failures = new TreeMap<>();
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
                close();
            }
        }
        close();
        return transfers + " transfers by " + library + ", failures " + failures + ", " + partner.calls.report();
    }

    private void close() throws InterruptedException, ReportedException {
        if (client != null) {
            partner.close(client);
            client = null;
        }
    }

    private static Process shell(String command) throws IOException {
        return new ProcessBuilder("sh", "-c", command).inheritIO().start();
    }
}
