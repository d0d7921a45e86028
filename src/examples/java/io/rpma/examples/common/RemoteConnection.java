package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.io.IOException;
import java.util.Optional;

/** An established connection to a host, and the memory that it offers. */
public final class RemoteConnection implements AutoCloseable {
    private final String name;
    private final RpmaConn conn;
    private final RpmaMrRemote memory;
    private final RpmaFlushType flushType;

    private RemoteConnection(String name, RpmaConn conn, RpmaMrRemote memory, RpmaFlushType flushType) {
        this.name = name;
        this.conn = conn;
        this.memory = memory;
        this.flushType = flushType;
    }

    /**
     * Finds the local device through which a host is reached.
     *
     * @throws LostException if none is found: perhaps because the host is down, since it is asked for its address
     */
    public static RpmaDevice findDevice(String address, int port) throws LostException {
        try {
            return RpmaDevice.remote(address);
        } catch (RpmaException e) {
            throw new LostException(name(address, port), Errors.line(e));
        }
    }

    /**
     * Connects, trying once.
     *
     * @param service the mark of the program that is expected there
     * @param operations how many operations have room in the send queue
     * @param nanos how long to wait for the answer
     * @throws LostException if there is no answer, or a refusal
     * @throws IOException if another program answers
     */
    public static RemoteConnection open(
            RpmaPeer peer, String address, int port, int service, int operations, long nanos)
            throws IOException, InterruptedException {
        String name = name(address, port);
        RpmaConn conn = request(peer, address, port, operations);
        awaitEstablished(conn, name, nanos);
        RpmaMrRemote memory = null;
        boolean usable = false;
        try {
            Offer offer = Offer.fromPrivateData(conn.getPrivateData(), service);
            memory = offer.openMemory();
            RpmaFlushType flushType = applyPlatform(conn, offer, memory);
            usable = true;
            return new RemoteConnection(name, conn, memory, flushType);
        } finally {
            if (!usable) {
                close(conn, memory);
            }
        }
    }

    private static String name(String address, int port) {
        return address + ":" + port;
    }

    private static RpmaConn request(RpmaPeer peer, String address, int port, int operations) throws LostException {
        // Should the connection break, all operations complete.
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(operations).setCqSize(operations)) {
            return RpmaConnReq.create(peer, address, port, cfg).connect();
        } catch (RpmaException e) {
            throw new LostException(name(address, port), Errors.line(e));
        }
    }

    private static void awaitEstablished(RpmaConn conn, String name, long nanos)
            throws LostException, InterruptedException {
        boolean established = false;
        try {
            Optional<RpmaConnEvent> event = conn.nextEvent(nanos, NANOSECONDS);
            established = event.filter(RpmaConnEvent.ESTABLISHED::equals).isPresent();
            if (!established) {
                throw new LostException(
                        name, event.map(RpmaConnEvent::description).orElse("no answer"));
            }
        } catch (RpmaException e) {
            throw new LostException(name, Errors.line(e));
        } finally {
            if (!established) {
                close(conn, null);
            }
        }
    }

    /** Flushes go as deep as the other side's platform and region allow. */
    private static RpmaFlushType applyPlatform(RpmaConn conn, Offer offer, RpmaMrRemote memory) {
        try (RpmaPeerCfg platform = RpmaPeerCfg.fromDescriptor(offer.peerCfg())) {
            conn.applyRemotePeerCfg(platform);
            return platform.getDirectWriteToPmem() && memory.getFlushType().contains(RpmaFlushType.PERSISTENT)
                    ? RpmaFlushType.PERSISTENT
                    : RpmaFlushType.VISIBILITY;
        }
    }

    /** For operations and events. */
    public RpmaConn conn() {
        return conn;
    }

    /** The other side's memory. */
    public RpmaMrRemote memory() {
        return memory;
    }

    /** How deep flushes go. */
    public RpmaFlushType flushType() {
        return flushType;
    }

    /** Ends the connection; operations that are not done may be done or not. */
    @Override
    public void close() {
        close(conn, memory);
    }

    private static void close(RpmaConn conn, RpmaMrRemote memory) {
        if (memory != null) {
            memory.close();
        }
        try {
            conn.close();
        } catch (RpmaException e) {
            // It is closed all the same, and there is nothing more to be done with it.
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
