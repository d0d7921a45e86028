// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaBatch;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrqCfg;
import java.io.FileOutputStream;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Closes an object while an atomic write waits for the page of its source. Uses a librpma that does nothing. */
public final class SlowPageProgram {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int SIZE = 4096;

    private SlowPageProgram() {}

    /**
     * Prints that the object is closed, and the outcome of the write.
     *
     * @param arguments the path of that librpma, the FIFO, whether a batch posts the write, and whether to close its
     *     source
     */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        boolean inBatch = Boolean.parseBoolean(arguments[2]);
        boolean closesSource = Boolean.parseBoolean(arguments[3]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local("localhost"));
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal local = peer.register(memory, RpmaMrUsage.values());
                RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(local.getDescriptor());
                RpmaConn conn =
                        RpmaConnReq.create(peer, "localhost", 7204, null).connect()) {
            FutureTask<Object> write =
                    new FutureTask<>(() -> inBatch ? batch(conn, remote, local).post() : write(conn, remote, local));
            new Thread(write, "writing").start();
            // returns when the writing thread waits
            try (FileOutputStream page = new FileOutputStream(arguments[1])) {
                AutoCloseable closed = closesSource ? local : RpmaSrqCfg.create();
                closed.close();
                System.out.println("closed");
                page.write(0);
            }
            System.out.println(outcome(write));
        }
    }

    private static boolean write(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local) {
        return conn.writeAtomic(remote, 0, local, 0, ALWAYS, 1);
    }

    private static RpmaBatch batch(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local) {
        RpmaBatch batch = RpmaBatch.create(2);
        batch.writeAtomic(conn, remote, 0, local, 0, ALWAYS, 1);
        batch.write(conn, ALWAYS, 2);
        return batch;
    }

    private static Object outcome(FutureTask<Object> write) throws InterruptedException {
        try {
            return write.get();
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }
}
