package io.rpma;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The process of {@link CyclesIT}: the same again and again, and how much memory each time takes for good. */
final class CyclesProgram {
    static final String GROWTH = "bytes for each: ";

    private static final int SIZE = 64;

    private final RpmaPeer peer;
    private final RpmaEp ep;
    private final String address;
    private final int port;

    private CyclesProgram(RpmaPeer peer, RpmaEp ep, String address, int port) {
        this.peer = peer;
        this.ep = ep;
        this.address = address;
        this.port = port;
    }

    /** What is done. */
    enum Kind {
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
        };

        abstract void run(CyclesProgram program) throws InterruptedException;
    }

    /**
     * @param arguments the kind, the address, the port and how often it is done
     */
    public static void main(String[] arguments) throws Exception {
        Kind kind = Kind.valueOf(arguments[0]);
        String address = arguments[1];
        int port = Integer.parseInt(arguments[2]);
        int cycles = Integer.parseInt(arguments[3]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            CyclesProgram program = new CyclesProgram(peer, ep, address, port);
            program.run(kind, Math.max(200, cycles / 5));
            OpenResources before = OpenResources.now();
            long memory = residentBytes();
            program.run(kind, cycles);
            System.out.println(GROWTH + (residentBytes() - memory) / cycles);
            before.assertSameNow(0);
        }
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
            next().close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
    }

    private RpmaConnReq next() throws InterruptedException {
        return ep.nextConnReq(null, Pair.TIMEOUT_S, TimeUnit.SECONDS).orElseThrow();
    }

    /** The heap is as large as it can become from the beginning. */
    private static long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/smaps_rollup")).stream()
                .filter(line -> line.startsWith("Rss:"))
                .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
