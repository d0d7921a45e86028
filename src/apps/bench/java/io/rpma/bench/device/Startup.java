// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.util.Arrays;

/**
 * Measures the time of a program to its first completed write. {@code src/apps/bench/c/startup.c} is the same program
 * in C, and documents the output. The program needs only this class and the library's jar.
 */
final class Startup {
    private static final int MEMORY_SIZE = 4096;

    private Startup() {}

    /**
     * Runs the program.
     *
     * @param args the address and the port of the target
     */
    public static void main(String[] args) throws InterruptedException {
        long begun = System.nanoTime();
        RpmaLog.getThreshold(RpmaLogThreshold.MAIN);
        long loaded = System.nanoTime();
        RpmaDevice device = RpmaDevice.local(args[0]);
        long found = System.nanoTime();
        RpmaPeer peer = RpmaPeer.create(device);
        long created = System.nanoTime();
        RpmaMrLocal memory = peer.register(RpmaMemory.allocate(MEMORY_SIZE), RpmaMrUsage.WRITE_SRC);
        long registered = System.nanoTime();
        RpmaConn conn = RpmaConnReq.create(peer, args[0], Integer.parseInt(args[1]) + 1, null)
                .connect();
        if (conn.nextEvent() != RpmaConnEvent.ESTABLISHED) {
            throw new IllegalStateException("no connection");
        }
        RpmaMrRemote remote =
                RpmaMrRemote.fromDescriptor(Arrays.copyOf(conn.getPrivateData(), RpmaMrLocal.DESCRIPTOR_SIZE));
        long connected = System.nanoTime();
        conn.write(remote, 0, memory, 0, Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, 0);
        RpmaCompletions completions = RpmaCompletions.create(1);
        while (conn.getCq().poll(completions) == 0) {
            Thread.yield();
        }
        long written = System.nanoTime();
        if (!completions.isSuccess(0)) {
            throw new IllegalStateException("the write failed: " + completions.status(0));
        }
        System.out.println(begun + " " + loaded + " " + found + " " + created + " " + registered + " " + connected + " "
                + written);
        conn.disconnect();
        conn.nextEvent();
    }
}
