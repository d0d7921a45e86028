// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Writes into another host's memory until that host is gone, and prints the completion and the event that report it.
 */
public final class SurvivorProgram {
    public static final String WRITING = "writing";
    public static final String LOST = "lost: ";
    public static final String NOTHING = "nothing";
    public static final String CLOSED = "closed after ";

    private static final int LIMIT_S = 10;

    private SurvivorProgram() {}

    /**
     * @param arguments the address and the port of {@link TargetProgram}
     */
    public static void main(String[] arguments) throws InterruptedException {
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        long closing;
        try (RpmaPeer peer = RpmaPeer.create(deviceTo(address));
                RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(20_000);
                RpmaMemory memory = RpmaMemory.allocate(TargetProgram.SIZE);
                RpmaMrLocal source = peer.register(memory, RpmaMrUsage.WRITE_SRC);
                RpmaConn conn = RpmaConnReq.create(peer, address, port, cfg).connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
            try (RpmaMrRemote target = RpmaMrRemote.fromDescriptor(conn.getPrivateData())) {
                System.out.println(LOST + writeUntilLost(conn, source, target));
            }
            closing = System.nanoTime();
        }
        System.out.println(CLOSED + millisSince(closing) + " ms");
    }

    /** Retries, because librpma allows one second for the resolution, and a guest on a busy machine may need more. */
    static RpmaDevice deviceTo(String address) {
        long start = System.nanoTime();
        while (true) {
            try {
                return RpmaDevice.remote(address);
            } catch (RpmaException e) {
                if (millisSince(start) > TimeUnit.SECONDS.toMillis(Limit.WAIT_S)) {
                    throw e;
                }
            }
        }
    }

    private static long millisSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    private static String writeUntilLost(RpmaConn conn, RpmaMrLocal source, RpmaMrRemote target)
            throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        long start = System.nanoTime();
        for (long done = 0; ; done++) {
            // few bytes: soft-RoCE may crash its kernel when it gives up much data that a dead host has not answered
            conn.write(target, 0, source, 0, Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, done);
            if (conn.getCq().await(completions, LIMIT_S, TimeUnit.SECONDS) == 0) {
                return NOTHING + " in " + LIMIT_S + " s";
            }
            if (!completions.isSuccess(0)) {
                Optional<RpmaConnEvent> event = conn.nextEvent(0, TimeUnit.SECONDS);
                return completions.status(0) + " " + event + " " + millisSince(start) + " ms after the last success";
            }
            if (done == 0) {
                System.out.println(WRITING);
            }
            start = System.nanoTime();
        }
    }
}
