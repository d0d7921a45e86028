// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;

/** An established connection to a host, and the memory that the host offers. */
public final class RemoteConnection implements AutoCloseable {
    private final String name;
    private final RpmaConn conn;
    private final RpmaMrRemote memory;
    private final Persistence persistence;
    private final PersistRequests requests;

    private RemoteConnection(
            String name, RpmaConn conn, RpmaMrRemote memory, Persistence persistence, PersistRequests requests) {
        this.name = name;
        this.conn = conn;
        this.memory = memory;
        this.persistence = persistence;
        this.requests = requests;
    }

    /**
     * Finds the local device through which a host is reached.
     *
     * @throws LostException if no device is found, for example because the host is down and its address can't be
     *     resolved
     */
    public static RpmaDevice findDevice(String address, int port) throws LostException {
        try {
            return RpmaDevice.remote(address);
        } catch (RpmaException e) {
            throw new LostException(name(address, port), Errors.line(e));
        }
    }

    /**
     * Makes one attempt to connect.
     *
     * @param service the identifier of the expected program
     * @param operations the size of the send queue
     * @param nanos the timeout for the answer
     * @throws LostException if the host does not answer, or rejects the request
     * @throws IOException if another program answers
     */
    public static RemoteConnection open(
            RpmaPeer peer, String address, int port, int service, int operations, long nanos)
            throws IOException, InterruptedException {
        String name = name(address, port);
        RpmaConn conn = establish(peer, address, port, operations, nanos);
        RpmaMrRemote memory = null;
        boolean usable = false;
        try {
            Offer offer = Offer.fromPrivateData(conn.getPrivateData(), service);
            memory = offer.openMemory();
            Persistence persistence = choosePersistence(conn, offer, memory);
            PersistRequests requests = persistence == Persistence.SERVER ? new PersistRequests(peer, conn) : null;
            usable = true;
            return new RemoteConnection(name, conn, memory, persistence, requests);
        } finally {
            if (!usable) {
                close(conn, memory);
            }
        }
    }

    private static String name(String address, int port) {
        return address + ":" + port;
    }

    private static RpmaConn establish(RpmaPeer peer, String address, int port, int operations, long nanos)
            throws LostException, InterruptedException {
        // The completion queue has room for all operations and receives, which all complete if the connection breaks.
        int answers = PersistRequest.MOST;
        try (RpmaConnCfg cfg =
                RpmaConnCfg.create().setSqSize(operations).setRqSize(answers).setCqSize(operations + answers)) {
            return RpmaConnReq.create(peer, address, port, cfg).connect(nanos, NANOSECONDS);
        } catch (RpmaException e) {
            throw new LostException(name(address, port), Errors.line(e));
        }
    }

    /**
     * Chooses how bytes become persistent, and applies the choice to the connection, which otherwise refuses flushes to
     * persistence.
     *
     * @throws IOException if bytes could only be flushed for visibility, and the other side's device refuses such a
     *     flush
     */
    private static Persistence choosePersistence(RpmaConn conn, Offer offer, RpmaMrRemote memory) throws IOException {
        boolean nativeFlush = conn.isFlushNative();
        boolean refused = nativeFlush && !offer.nativeFlush();
        boolean flushable = !refused && memory.getFlushType().contains(RpmaFlushType.PERSISTENT);
        Persistence persistence = Persistence.choose(offer.persistent(), flushable, nativeFlush, offer.isDirectWrite());
        if (refused && persistence == Persistence.NONE) {
            throw new IOException("this side's device flushes natively, and the other side's device refuses that:"
                    + " both sides need devices with native flush, or both without");
        }
        try (RpmaPeerCfg platform = RpmaPeerCfg.create().setDirectWriteToPmem(persistence.isByFlush())) {
            conn.applyRemotePeerCfg(platform);
        }
        return persistence;
    }

    /** Returns the connection for operations and events. */
    public RpmaConn conn() {
        return conn;
    }

    /** Returns the memory of the other side. */
    public RpmaMrRemote memory() {
        return memory;
    }

    /** Returns how written bytes become persistent. */
    public Persistence persistence() {
        return persistence;
    }

    /** Returns the requests to make bytes persistent on the other side; null if the other side gets no requests. */
    PersistRequests requests() {
        return requests;
    }

    /** Ends the connection. Operations under way may or may not be carried out. */
    @Override
    public void close() {
        close(conn, memory);
        if (requests != null) {
            requests.close();
        }
    }

    private static void close(RpmaConn conn, RpmaMrRemote memory) {
        if (memory != null) {
            memory.close();
        }
        try {
            conn.close();
        } catch (RpmaException e) {
            // The connection is closed nevertheless, and is not needed any more.
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
