// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.support.Errors;
import io.rpma.support.MemoryServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * The side that listens: at a port for librpma, at the next one for librdmacm, and at the one after that for datagrams.
 * Each port serves one connection after the other. A connection is closed if its client is silent, so that the next
 * client waits for a limited time.
 */
final class Server implements AutoCloseable {
    /** The ports of a server. */
    static final int PORTS = 3;

    private static final int BACKLOG = 16;

    /** The time without an accepted client after which an endpoint that fails at once counts as broken. */
    private static final int PATIENCE_S = 30;

    /** The close of a connection to a dead host takes up to 11 s. */
    private static final int CLOSE_S = 15;

    private final Consumer<String> notes;
    private final List<AutoCloseable> endpoints = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch ended = new CountDownLatch(1);

    private Server(Consumer<String> notes) {
        this.notes = notes;
    }

    /** Serves one connection after the other until its thread is interrupted. */
    private interface Service {
        void run() throws IOException, InterruptedException;
    }

    /**
     * Listens.
     *
     * @param port the first of {@link #PORTS}
     * @param notes gets messages for the user
     */
    static Server listen(RpmaDevice device, String address, int port, Consumer<String> notes) {
        Server server = new Server(notes);
        boolean listens = false;
        try {
            RpmaPeer peer = server.keep(RpmaPeer.create(device));
            RpmaEp endpoint = server.keep(RpmaEp.listen(peer, address, port));
            server.start(port, () -> server.serve(peer, endpoint));
            server.listen(address, port + 1, RdmaPortSpace.TCP);
            if (!device.isIwarp()) {
                server.listen(address, port + 2, RdmaPortSpace.UDP);
            }
            listens = true;
            return server;
        } finally {
            if (!listens) {
                server.close();
            }
        }
    }

    private <T extends AutoCloseable> T keep(T endpoint) {
        endpoints.add(endpoint);
        return endpoint;
    }

    private void listen(String address, int port, RdmaPortSpace space) {
        RdmaId listener = keep(RdmaId.create(space));
        listener.bindAddr(new InetSocketAddress(address, port));
        listener.listen(BACKLOG);
        start(port, () -> serve(listener));
    }

    private void start(int port, Service service) {
        threads.execute(() -> {
            try {
                service.run();
            } catch (InterruptedException e) {
                // this side ends
            } catch (IOException | RuntimeException e) {
                notes.accept("port " + port + ": " + Errors.line(e));
            } finally {
                ended.countDown();
            }
        });
    }

    private void serve(RpmaPeer peer, RpmaEp endpoint) throws IOException, InterruptedException {
        while (true) {
            try (RpmaConnReq request = MemoryServer.awaitNext(() -> endpoint.nextConnReq(null), PATIENCE_S, notes)) {
                if (isOfThisProgram(request.getPrivateData())) {
                    LibrpmaSession.serve(peer, request);
                }
            } catch (RpmaException e) {
                lost(e);
            }
        }
    }

    private void serve(RdmaId listener) throws IOException, InterruptedException {
        while (true) {
            try (RdmaId id = MemoryServer.awaitNext(listener::getRequest, PATIENCE_S, notes)) {
                if (isOfThisProgram(id.request().orElseThrow().privateData())) {
                    LibrdmacmSession.serve(id);
                }
            } catch (RpmaException e) {
                lost(e);
            }
        }
    }

    private void lost(RpmaException failure) {
        if (!Errors.hasEnded(failure)) {
            notes.accept("a client is lost: " + Errors.line(failure));
        }
    }

    private boolean isOfThisProgram(byte[] privateData) {
        boolean isIt = privateData.length >= Integer.BYTES
                && ByteBuffer.wrap(privateData).getInt() == Answer.SERVICE;
        if (!isIt) {
            notes.accept("rejected: the client is another program, or another version of this one");
        }
        return isIt;
    }

    /**
     * Serves until the thread is interrupted.
     *
     * @throws IOException if a port serves no clients any more
     */
    void await() throws IOException, InterruptedException {
        ended.await();
        throw new IOException("one of the ports serves no client any more");
    }

    @Override
    public void close() {
        threads.shutdownNow();
        boolean interrupted = Thread.interrupted();
        try {
            threads.awaitTermination(CLOSE_S, SECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        for (int i = endpoints.size() - 1; i >= 0; i--) {
            close(endpoints.get(i));
        }
    }

    private void close(AutoCloseable endpoint) {
        try {
            endpoint.close();
        } catch (Exception e) {
            notes.accept(Errors.line(e));
        }
    }
}
