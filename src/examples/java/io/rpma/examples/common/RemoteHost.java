package io.rpma.examples.common;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.function.Consumer;

/** A host that offers memory, whose connections may come and go. */
public final class RemoteHost implements AutoCloseable {
    /** How long nothing may complete until the host counts as gone: no event reports that a host has died. */
    private static final int SILENCE_S = 10;

    private final String address;
    private final int port;
    private final int service;
    private final int operations;
    private final Consumer<String> notes;
    private final RpmaMemory stagingMemory;

    // This side's part, which serves all connections: made by the first attempt that reaches the host.
    private RpmaPeer peer;
    private RpmaMrLocal staging;

    private RemoteMemory connected;

    /**
     * Sets out for a host, which may be down.
     *
     * @param service the mark of the program that is expected there
     * @param stagingMemory what bytes come from and go to
     * @param operations how many operations have room in the send queue; a store and a commit take two each
     * @param notes is told what is worth knowing
     */
    public RemoteHost(
            String address, int port, int service, RpmaMemory stagingMemory, int operations, Consumer<String> notes) {
        this.address = address;
        this.port = port;
        this.service = service;
        this.stagingMemory = stagingMemory;
        this.operations = operations;
        this.notes = notes;
    }

    /**
     * Connects, trying once, or returns the connection that there is.
     *
     * @param nanos how long to wait for the answer
     * @throws LostException if the host is not found, or there is no answer, or a refusal
     */
    public RemoteMemory connect(long nanos) throws IOException, InterruptedException {
        if (connected == null) {
            prepare();
            RemoteConnection connection = RemoteConnection.open(peer, address, port, service, operations, nanos);
            connected = new RemoteMemory(connection, staging, SILENCE_S);
            Persistence persistence = connected.persistence();
            notes.accept(this + ": " + persistence.description()
                    + (persistence == Persistence.NONE ? ", a power cut there loses the written bytes" : ""));
        }
        return connected;
    }

    private void prepare() throws LostException {
        if (peer == null) {
            peer = RpmaPeer.create(RemoteConnection.findDevice(address, port));
        }
        if (staging == null) {
            staging = peer.register(stagingMemory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST);
        }
    }

    /** Ends the connection if there is one that is lost; returns whether there was. */
    public boolean disconnectIfLost() {
        boolean lost = connected != null && connected.isLost();
        if (lost) {
            disconnect();
        }
        return lost;
    }

    private void disconnect() {
        connected.close();
        connected = null;
    }

    @Override
    public void close() {
        if (connected != null) {
            disconnect();
        }
        if (staging != null) {
            staging.close();
        }
        if (peer != null) {
            peer.close();
        }
    }

    @Override
    public String toString() {
        return address + ":" + port;
    }
}
