// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcStatus;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The process of {@code CyclesIT}: repeats an operation, and measures the memory that each repetition leaks. */
public final class CyclesProgram {
    public static final String GROWTH = "bytes for each: ";

    private static final int SIZE = 64;

    /**
     * The time after which the listener looks for a second request: the kernel repeats a request that gets no answer
     * within 4 s, and a repetition that arrives after the rejection counts as another request.
     */
    private static final int REPEATED_S = 30;

    private final RpmaCompletions completions = RpmaCompletions.create(1);
    private final RpmaPeer peer;
    private final RpmaEp ep;
    private final String address;
    private final int port;
    private final RdmaId listener;
    private final int listenerPort;

    private CyclesProgram(RpmaPeer peer, RpmaEp ep, String address, int port, RdmaId listener) {
        this.peer = peer;
        this.ep = ep;
        this.address = address;
        this.port = port;
        this.listener = listener;
        listenerPort = listener.localAddr().orElseThrow().getPort();
    }

    /** The operation that is repeated. */
    public enum Kind {
        CONNECT {
            @Override
            void run(CyclesProgram program) throws InterruptedException {
                program.connect();
            }
        },
        REJECT {
            @Override
            void run(CyclesProgram program) throws InterruptedException {
                program.reject();
            }
        },
        RDMA_CONNECT {
            @Override
            void run(CyclesProgram program) throws InterruptedException {
                program.rdmaConnect();
            }
        },
        RDMA_REJECT {
            @Override
            void run(CyclesProgram program) throws InterruptedException {
                program.rdmaReject();
            }
        };

        abstract void run(CyclesProgram program) throws InterruptedException;
    }

    /**
     * @param arguments the kind, the address, the port and the number of repetitions
     */
    public static void main(String[] arguments) throws Exception {
        Kind kind = Kind.valueOf(arguments[0]);
        String address = arguments[1];
        int port = Integer.parseInt(arguments[2]);
        int cycles = Integer.parseInt(arguments[3]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaEp ep = RpmaEp.listen(peer, address, port);
                RdmaId listener = RdmaPair.listen(0)) {
            CyclesProgram program = new CyclesProgram(peer, ep, address, port, listener);
            program.run(kind, Math.max(200, cycles / 5));
            OpenResources before = OpenResources.now();
            // growth that happens once, as in the JVM and malloc, is in one half: a leak is in both
            long growth = Math.min(program.growth(kind, cycles / 2), program.growth(kind, cycles / 2));
            System.out.println(GROWTH + growth);
            before.assertSameNow(0);
        }
    }

    private long growth(Kind kind, int cycles) throws Exception {
        long memory = residentBytes();
        run(kind, cycles);
        return (residentBytes() - memory) / cycles;
    }

    private void run(Kind kind, int cycles) throws InterruptedException {
        for (int i = 0; i < cycles; i++) {
            kind.run(this);
        }
    }

    private void connect() throws InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(memory, Regions.ALL);
                RpmaMrRemote remote = Pair.remote(region);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
                RpmaConn server = next().connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            Pair.assertPosted(client.write(remote, 0, region, 0, SIZE, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(client, 1);
        }
    }

    private void reject() throws InterruptedException {
        try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            Optional<RpmaConnEvent> event = Optional.empty();
            while (event.isEmpty()) {
                next().close();
                event = client.nextEvent(REPEATED_S, TimeUnit.SECONDS);
            }
            assertSame(RpmaConnEvent.REJECTED, event.get());
        }
    }

    private void rdmaConnect() throws InterruptedException {
        try (RdmaId client = RdmaPair.connecting(listenerPort);
                RdmaId server = RdmaPair.request(listener);
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RdmaMr local = RdmaMr.regMsgs(client, memory);
                RdmaMr remote = RdmaMr.regWrite(server, memory)) {
            server.createQp(RdmaPair.attr());
            RdmaPair.accept(client, server);
            Pair.assertPosted(
                    client.qp().postWrite(local, 0, SIZE, RdmaQp.F_SIGNALED, remote.address(), remote.rkey(), 1));
            assertEquals(1, client.qp().getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            assertSame(RpmaWcStatus.SUCCESS, completions.status(0));
            client.disconnect();
            server.awaitEvent(RdmaEventType.DISCONNECTED, Limit.WAIT_S, TimeUnit.SECONDS);
            server.disconnect();
            client.awaitEvent(RdmaEventType.DISCONNECTED, Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    private void rdmaReject() throws InterruptedException {
        try (RdmaId client = RdmaPair.connecting(listenerPort)) {
            Optional<RdmaEvent> event = Optional.empty();
            while (event.isEmpty()) {
                try (RdmaId server = RdmaPair.request(listener)) {
                    server.reject(new byte[0]);
                }
                event = client.nextEvent(REPEATED_S, TimeUnit.SECONDS);
            }
            assertSame(RdmaEventType.REJECTED, event.get().type());
        }
    }

    private RpmaConnReq next() throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    /** Returns the resident memory. The heap does not grow, because it has its largest size from the beginning. */
    private static long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/smaps_rollup")).stream()
                .filter(line -> line.startsWith("Rss:"))
                .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
