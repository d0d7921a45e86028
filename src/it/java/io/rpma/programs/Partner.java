// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** {@link PartnerProgram} on another host, which may be dead or unreachable. */
final class Partner {
    /** The start of the line that reports the end of a fault. */
    static final String END = "end: ";

    /** The start of this line if no call hangs. */
    static final String SURVIVED = END + "survived ";

    static final String RPMA = "io.rpma";
    static final String RDMACM = "io.rpma.rdmacm";
    static final List<String> LIBRARIES = List.of(RPMA, RDMACM);

    /** The time for a host to boot, and for both hosts to forget earlier connections. */
    private static final long RECOVERY_S = 60;

    final Calls calls = new Calls();

    private final RpmaPeer peer;
    private final String address;
    private final int port;
    private final boolean faultyNetwork;
    private final Random random;

    /**
     * @param faultyNetwork see {@link PartnerClient}
     * @param arguments of {@link PartnerProgram}
     */
    Partner(RpmaPeer peer, boolean faultyNetwork, String... arguments) {
        this.peer = peer;
        this.faultyNetwork = faultyNetwork;
        long seed = new Random().nextLong();
        System.out.println("bytes of the seed " + seed);
        random = new Random(seed);
        address = arguments[0];
        port = Integer.parseInt(arguments[1]);
    }

    /** Connects. */
    PartnerClient connect(String library) throws InterruptedException, ReportedException {
        PartnerClient client = library.equals(RPMA)
                ? new RpmaPartnerClient(random, faultyNetwork, peer, address, port)
                : new RdmaPartnerClient(random, faultyNetwork, address, port + 1);
        try {
            calls.make("connect", client::connect);
        } catch (ReportedException | RpmaException e) {
            close(client);
            throw e;
        }
        return client;
    }

    void close(PartnerClient client) throws InterruptedException, ReportedException {
        calls.make("close", client::close);
    }

    /** Connects and transfers, until both succeed. */
    void recover(String library) throws InterruptedException, ReportedException {
        long start = System.nanoTime();
        while (true) {
            try {
                PartnerClient client = connect(library);
                try {
                    calls.make("transfer", client::transfer);
                } finally {
                    close(client);
                }
                return;
            } catch (ReportedException | RpmaException e) {
                if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(RECOVERY_S)) {
                    throw e;
                }
            }
        }
    }
}
