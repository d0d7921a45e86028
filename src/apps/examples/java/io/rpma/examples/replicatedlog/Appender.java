// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.RpmaMemory;
import io.rpma.support.BackOff;
import io.rpma.support.LostException;
import io.rpma.support.Program;
import io.rpma.support.RemoteHost;
import io.rpma.support.RemoteMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Appends the records of the writers to the logs of two replicas, and connects again when a replica is lost.
 *
 * <p>There must be only one appender at a time.
 */
final class Appender {
    /** The time without a record after which the connections are checked. */
    private static final long IDLE_MS = 500;

    private final List<HostAddress> addresses;
    private final BackOff backOff;
    private String lastNote = "";
    private boolean roomChecked;
    private IOException refusal;

    /**
     * Sets up an appender.
     *
     * @param addresses of the two replicas
     * @param timeout the longest time from a failure to the next acknowledgement, in seconds
     */
    Appender(List<HostAddress> addresses, int timeout) {
        this.addresses = addresses;
        backOff = new BackOff(timeout);
    }

    /**
     * Appends all records.
     *
     * @throws IOException if not all records are acknowledged
     */
    void append(Writers writers) throws IOException, InterruptedException {
        try (RpmaMemory staging = RpmaMemory.allocate(LogAppender.STAGING);
                RemoteHost first = host(addresses.get(0), staging);
                RemoteHost second = host(addresses.get(1), staging)) {
            LogAppender log = new LogAppender(staging.buffer(), this::acknowledge);
            List<RemoteHost> hosts = List.of(first, second);
            boolean done = false;
            while (!done) {
                try {
                    List<RemoteMemory> replicas = connect(hosts);
                    log.recover(replicas);
                    append(log, replicas, writers);
                    done = true;
                } catch (LostException e) {
                    tell(hosts, e);
                    backOff.pause("nothing was acknowledged", e);
                }
            }
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    private static RemoteHost host(HostAddress where, RpmaMemory staging) {
        return new RemoteHost(
                where.address(),
                where.port(),
                ReplicaServer.SERVICE,
                staging,
                LogAppender.OPERATIONS,
                System.out::println);
    }

    private void acknowledge(long sequence, Payload payload) throws IOException {
        backOff.succeeded();
        Program.print(System.out, "acknowledged " + sequence + " " + payload.writer() + " " + payload.number());
    }

    private List<RemoteMemory> connect(List<RemoteHost> hosts) throws IOException, InterruptedException {
        List<RemoteMemory> replicas = new ArrayList<>();
        for (RemoteHost host : hosts) {
            replicas.add(host.connect(backOff.left()));
        }
        return replicas;
    }

    /** Prints a loss, or the first of successive attempts that fail for the same reason. */
    private void tell(List<RemoteHost> hosts, LostException loss) {
        boolean lost = false;
        for (RemoteHost host : hosts) {
            lost |= host.disconnectIfLost();
        }
        String note = (lost ? "lost " : "waiting for ") + loss.getMessage();
        if (lost || !note.equals(lastNote)) {
            System.out.println(note);
        }
        lastNote = note;
    }

    /** Appends until the writers have ended or a record is refused, and all records under way are acknowledged. */
    private void append(LogAppender log, List<RemoteMemory> replicas, Writers writers)
            throws IOException, InterruptedException {
        if (!roomChecked) {
            roomChecked = true;
            checkRoom(log, writers);
        }
        while (true) {
            while (log.hasSlot() && appendNext(log, writers)) {
                // append all records that are ready
            }
            if (!log.isIdle()) {
                log.awaitOldest();
            } else if (refusal != null || writers.haveEnded()) {
                return;
            } else {
                for (RemoteMemory replica : replicas) {
                    replica.checkConnected();
                }
                backOff.succeeded();
            }
        }
    }

    /** Refuses to begin if the log has no room for all records. */
    private static void checkRoom(LogAppender log, Writers writers) throws LogException {
        if (writers.totalLength() > log.room()) {
            throw new LogException("the log is full: all records take " + writers.totalLength()
                    + " bytes, and there is room for " + log.room() + "; nothing was appended");
        }
    }

    /** Appends the next record, if there is one. Waits for it only if no record is under way. */
    private boolean appendNext(LogAppender log, Writers writers) throws LostException, InterruptedException {
        if (refusal != null || writers.haveEnded()) {
            return false;
        }
        try {
            Payload next = writers.next(log.isIdle() ? IDLE_MS : 0);
            if (next == null) {
                return false;
            }
            log.append(next);
            return true;
        } catch (LostException e) {
            throw e;
        } catch (IOException e) {
            refusal = e; // a writer has failed or the log is full: first acknowledge the records under way
            return false;
        }
    }
}
