// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaPeer;
import io.rpma.support.MemoryServer;
import io.rpma.support.OfferedMemory;
import io.rpma.support.Size;
import io.rpma.support.TargetMemory;
import java.io.IOException;

/**
 * One of the two sides with the log. Recovers the log, then offers its memory to one appender after the other.
 *
 * <p>Appenders do the rest over the network, and ask the replica only to make bytes persistent. So a replica needs no
 * cleanup at its end: its memory is the same whether it is killed or stopped.
 */
final class ReplicaServer {
    /** The identifier of this program, which an appender expects: "rlog". */
    static final int SERVICE = 0x726c_6f67;

    private final String address;
    private final int port;

    ReplicaServer(String address, int port) {
        this.address = address;
        this.port = port;
    }

    /**
     * Serves until a signal ends the process.
     *
     * @param where the memory: a path or {@link TargetMemory#AUTO}
     * @param size of the memory in bytes, or 0
     * @param directWrite whether the operator has stated that the platform makes written bytes persistent
     * @param format whether to discard the contents of the memory
     * @param show whether to print the records
     * @throws IOException if the memory can't be mapped, or its log is torn
     */
    void serve(String where, long size, boolean directWrite, boolean format, boolean show)
            throws IOException, InterruptedException {
        TargetMemory target = new TargetMemory(size, System.out::println);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = target.open(where)) {
            System.out.println("memory " + target.description() + ", " + Size.format(memory.size()));
            recover(memory, format, show);
            try (RpmaMrLocal region = target.register(peer, memory);
                    OfferedMemory offered = new OfferedMemory(peer, memory, region, directWrite)) {
                serveUntilSignal(peer, offered);
            }
        }
    }

    /** Serves until a signal. The signal is the normal end of a replica, so the process ends with status 0. */
    private void serveUntilSignal(RpmaPeer peer, OfferedMemory offered) throws IOException, InterruptedException {
        Thread end = new Thread(() -> Runtime.getRuntime().halt(0), "end");
        Runtime.getRuntime().addShutdownHook(end);
        try (MemoryServer server = new MemoryServer(peer, offered, address, port, SERVICE, System.out::println)) {
            while (true) {
                server.serve();
            }
        } finally {
            Runtime.getRuntime().removeShutdownHook(end);
        }
    }

    private static void recover(RpmaMemory memory, boolean format, boolean show)
            throws IOException, InterruptedException {
        if (LogLayout.capacity(memory.size()) <= 0) {
            throw new LogException("the memory is too small for a log: " + Size.exact(memory.size()));
        }
        if (format || !LocalLog.isIn(memory)) {
            LocalLog.format(memory);
            System.out.println("formatted for " + Size.exact(LogLayout.capacity(memory.size())) + " of records");
        }
        LocalLog log = LocalLog.open(memory);
        long records = log.read(show ? new RecordPrinter() : (sequence, record, end) -> {});
        System.out.println("recovered " + records + " records, tail " + log.tail());
    }
}
