// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.testing.Regions;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A client by {@code io.rpma}. */
final class RpmaPartnerClient extends PartnerClient {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private final RpmaPeer peer;
    private final String address;
    private final int port;
    private final RpmaMrLocal local;
    private RpmaConn conn;
    private RpmaMrRemote remote;

    RpmaPartnerClient(Random random, boolean faultyNetwork, RpmaPeer peer, String address, int port) {
        super(random, faultyNetwork);
        this.peer = peer;
        this.address = address;
        this.port = port;
        local = opened(peer.register(memory, Regions.ALL));
    }

    @Override
    void connect() throws InterruptedException, ReportedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(LIMIT_MS).setRcqSize(2)) {
            conn = opened(RpmaConnReq.create(peer, address, port, cfg).connect());
        }
        awaitEvent(RpmaConnEvent.ESTABLISHED);
        remote = opened(RpmaMrRemote.fromDescriptor(conn.getPrivateData()));
    }

    @Override
    Object event(int millis) throws InterruptedException {
        return conn.nextEvent(millis, TimeUnit.MILLISECONDS).orElse(null);
    }

    @Override
    void register() throws InterruptedException, ReportedException {
        try (RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_SRC)) {
            await(conn.write(remote, 0, region, 0, SIZE, ALWAYS, 1));
        }
    }

    @Override
    boolean postWrite(int length) {
        return conn.write(remote, 0, local, 0, length, ALWAYS, 2);
    }

    @Override
    boolean postRead(int length) {
        return conn.read(local, READ, remote, 0, length, ALWAYS, 3);
    }

    @Override
    boolean postFlush() {
        return conn.flush(remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 4);
    }

    @Override
    boolean postAtomicWrite(long value) {
        return conn.atomicWrite(remote, 0, value, ALWAYS, 5);
    }

    @Override
    boolean postRecv() {
        return conn.recv(local, RECEIVED, MESSAGE, 6);
    }

    @Override
    boolean postSend() {
        return conn.send(local, SENT, MESSAGE, ALWAYS, 7);
    }

    @Override
    int takeSent(RpmaCompletions taken, int millis) throws InterruptedException {
        return conn.getCq().await(taken, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    int takeReceived(RpmaCompletions taken, int millis) throws InterruptedException {
        return conn.getRcq().orElseThrow().await(taken, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    Object startDisconnect() {
        conn.disconnect();
        return RpmaConnEvent.CLOSED;
    }
}
