// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.RpmaWcStatus;
import io.rpma.support.Errors;
import io.rpma.support.Listener;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** Answers the messages of clients. One thread serves all clients, and another thread closes connections. */
final class PingServer {
    /** The time without a message after which a client is probed, and the time within which its device must answer. */
    private static final int SILENCE_S = 10;

    /** The most clients, because each has up to 2 MiB of locked memory. */
    private static final int MOST_CLIENTS = 100;

    /** The close of a connection to a dead host takes up to 11 s. */
    private static final int CLOSE_S = 15;

    private final String address;
    private final int port;
    private final Map<RpmaConn, Client> clients = new HashMap<>();
    private final ExecutorService closer = Executors.newSingleThreadExecutor();
    private int accepted;
    private long answered;

    PingServer(String address, int port) {
        this.address = address;
        this.port = port;
    }

    /**
     * A client, and the memory of its messages.
     *
     * @param size of a message; the memory has room for two, so that the receive of the next message is posted before
     *     the client gets an answer
     */
    private record Client(int number, int size, RpmaMemory memory, RpmaMrLocal region, RpmaConn conn) {
        void close() {
            try {
                conn.close();
            } catch (RpmaException e) {
                Listener.say("client %d: %s", number, Errors.line(e));
            }
            region.close();
            memory.close();
        }
    }

    /**
     * Serves until the thread is interrupted.
     *
     * @throws IOException if no device has the address
     */
    void serve() throws IOException, InterruptedException {
        RpmaDevice device = Listener.device(address);
        try (RpmaPeer peer = RpmaPeer.create(device);
                RpmaEventLoop loop = RpmaEventLoop.create();
                RpmaEp endpoint = RpmaEp.listen(peer, address, port)) {
            loop.onFailure(this::failed);
            loop.onRequest(endpoint, null, request -> accept(loop, peer, request));
            Listener.say("listening at %s port %d through %s, until Ctrl-C", address, port, device.name());
            try {
                loop.run();
            } catch (InterruptedException e) {
                // Ctrl-C is the usual end
            } finally {
                clients.values().forEach(client -> Listener.say("client %d: this side ends", client.number));
                Listener.say("%d messages of %d clients answered", answered, accepted);
                closeAll();
            }
        }
    }

    /** Closes all connections together, because a close takes seconds if the host of the client is dead. */
    private void closeAll() throws InterruptedException {
        closer.shutdown();
        closer.awaitTermination(CLOSE_S, SECONDS);
        try {
            RpmaObjects.closeAll(clients.values().stream()
                    .flatMap(client -> Stream.of(client.conn, client.region, client.memory))
                    .toList());
        } catch (RpmaException e) {
            Listener.say("%s", Errors.line(e));
        }
    }

    private void accept(RpmaEventLoop loop, RpmaPeer peer, RpmaConnReq request) {
        int size;
        try {
            size = size(request);
        } catch (Listener.RefusedException e) {
            Listener.say("rejected: %s", e.getMessage());
            request.close();
            return;
        }
        Client client = connect(peer, request, size);
        clients.put(client.conn, client);
        try {
            serve(loop, client);
        } catch (RuntimeException e) {
            end(client, "it can't be served");
            throw e;
        }
    }

    private int size(RpmaConnReq request) throws Listener.RefusedException {
        OptionalInt size = PingMessage.size(request.getPrivateData());
        if (size.isEmpty()) {
            throw Listener.RefusedException.ofAnotherProgram();
        }
        if (clients.size() == MOST_CLIENTS) {
            throw Listener.RefusedException.beyond(MOST_CLIENTS);
        }
        return size.getAsInt();
    }

    private void serve(RpmaEventLoop loop, Client client) {
        Listener.say("client %d has connected, with messages of %d bytes", client.number, client.size);
        loop.onEvent(client.conn, event -> {
            if (event != RpmaConnEvent.ESTABLISHED) {
                end(client, "it has ended");
            }
        });
        loop.onCompletion(client.conn.getCq(), 4, (cq, completions) -> answer(client, completions));
        loop.onPeerLost(client.conn, SILENCE_S, SILENCE_S, SECONDS, conn -> end(client, "its host does not answer"));
    }

    private Client connect(RpmaPeer peer, RpmaConnReq request, int size) {
        RpmaMemory memory = RpmaMemory.allocate(2L * size);
        RpmaMrLocal region = null;
        RpmaConn conn = null;
        try {
            region = peer.register(memory, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
            request.recv(region, 0, size, 0);
            conn = request.connect(PingMessage.privateData(size));
            return new Client(++accepted, size, memory, region, conn);
        } finally {
            if (conn == null) {
                if (region != null) {
                    region.close();
                }
                memory.close();
            }
        }
    }

    /** The operation context is the offset of the message. */
    private void answer(Client client, RpmaCompletions completions) {
        for (int i = 0; i < completions.count(); i++) {
            if (completions.status(i) == RpmaWcStatus.WR_FLUSH_ERR) {
                return; // an event reports the end of the connection; on iWARP, it comes afterwards
            }
            if (!completions.isSuccess(i)) {
                end(client, "the connection is lost: " + completions.status(i));
                return;
            }
            if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                long offset = completions.wrId(i);
                long next = client.size - offset;
                boolean posted = client.conn.recv(client.region, next, client.size, next)
                        && client.conn.send(
                                client.region, offset, completions.byteLen(i), RpmaConn.F_COMPLETION_ALWAYS, offset);
                if (!posted) {
                    end(client, "it sends messages without a wait for the answers");
                    return;
                }
                answered++;
            }
        }
    }

    private void failed(Object source, Throwable failure) {
        Listener.say("%s", Errors.line(failure));
        Client client = clients.get(source);
        if (client != null) {
            end(client, "its connection has failed");
        }
    }

    private void end(Client client, String reason) {
        if (clients.remove(client.conn) != null) {
            Listener.say("client %d: %s", client.number, reason);
            closer.execute(client::close);
        }
    }
}
