// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaId;
import java.io.IOException;
import java.util.Optional;

/**
 * Connects to the side of a command that listens.
 *
 * @param listener the command of that side, as in "ping --listen ADDRESS"
 */
public record Connector(String address, int port, String listener) {
    private static final String REFUSED = "ECONNREFUSED";

    private static final String ADVICE = "is the host up, and does its firewall permit RDMA (RoCE: UDP port 4791)?";

    /** Thrown if the other side has rejected the connection, so that it, or its host, answers. */
    public static final class RejectedException extends LostException {
        private static final long serialVersionUID = 1;

        private RejectedException(Connector connector, String reason) {
            super(connector, reason);
        }
    }

    /**
     * Finds the device of this machine that reaches the other side.
     *
     * @throws IOException if there is none; the message has the reason and the remedy
     */
    public RpmaDevice device() throws IOException {
        try {
            return RpmaDevice.remote(address);
        } catch (RpmaException e) {
            throw DeviceFault.ofThisMachine().remote(address, e);
        }
    }

    /**
     * Makes one attempt to connect.
     *
     * @param cfg the configuration of the connection; null for the default
     * @param timeout for the answer, in nanoseconds
     * @throws LostException if the other side can't be reached, does not answer, or rejects the connection
     */
    public RpmaConn connect(RpmaPeer peer, RpmaConnCfg cfg, byte[] privateData, long timeout)
            throws LostException, InterruptedException {
        RpmaConn conn;
        try {
            conn = RpmaConnReq.create(peer, address, port, cfg).connect(privateData, timeout, NANOSECONDS);
        } catch (RpmaException e) {
            throw lost(e);
        }
        Optional<String> refusal = Refusal.fromPrivateData(conn.getPrivateData());
        if (refusal.isPresent()) {
            close(conn);
            throw refused(refusal.get());
        }
        return conn;
    }

    /**
     * Makes one attempt to connect an id of librdmacm.
     *
     * @param timeout for the answer, in nanoseconds
     * @return the event that reports the connection
     * @throws LostException if the other side can't be reached, does not answer, or rejects the connection
     */
    public RdmaEvent connect(RdmaId id, RdmaConnParam param, long timeout) throws LostException, InterruptedException {
        try {
            id.connect(param);
        } catch (RpmaException e) {
            throw lost(e);
        }
        RdmaEvent event = id.nextEvent(timeout, NANOSECONDS).orElseThrow(this::noAnswer);
        return switch (event.type()) {
            case ESTABLISHED -> event;
            case REJECTED ->
                throw Refusal.fromPrivateData(event.privateData())
                        .map(this::refused)
                        .orElseGet(this::rejected);
            default -> throw new LostException(this, event.toString());
        };
    }

    private LostException lost(RpmaException failure) {
        if (failure.errnoName().equals(REFUSED)) {
            return rejected();
        }
        return DeviceFault.isSilent(failure) ? noAnswer() : new LostException(this, Errors.line(failure));
    }

    /** Returns the other side's next port. */
    public Connector atNextPort() {
        return new Connector(address, port + 1, listener);
    }

    /** Returns an exception which reports that the other side does not answer. */
    private LostException noAnswer() {
        return new LostException(this, "no answer: " + ADVICE);
    }

    /** Returns an exception which reports that the other side has rejected the connection. */
    private LostException rejected() {
        return new RejectedException(
                this,
                "rejected: nothing listens there, or the listening side has refused this one and shows why; start '"
                        + Product.NAME + " " + listener + "' on that host, with the address of its RDMA device");
    }

    private LostException refused(String reason) {
        return new RejectedException(this, "the listening side has refused this one: " + reason);
    }

    /** Returns an exception which reports that another program has accepted the connection. */
    public IOException anotherProgram() {
        return new IOException(this + ": another program has accepted the connection, or another version of this"
                + " one: name the port of '" + Product.NAME + " " + listener + "' with --port");
    }

    /** Closes a connection that is not needed any more. */
    public static void close(RpmaConn conn) {
        try {
            conn.close();
        } catch (RpmaException e) {
            // The connection is closed nevertheless.
        }
    }

    @Override
    public String toString() {
        return address + " port " + port;
    }
}
