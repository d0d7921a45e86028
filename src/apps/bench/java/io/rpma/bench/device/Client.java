// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntConsumer;

/**
 * The client in Java. {@code src/apps/bench/c/client.c} is the client in C, and documents the commands. This client's
 * answers to {@code connect}, {@code regions} and both loops have one more number at the end: the growth of the heap in
 * bytes.
 */
final class Client extends LoadClient {
    private static final int PAGE = 4096;
    private static final int SPREAD_BYTES = 8;

    /** The distance of the port for TCP from the first port. */
    private static final int TCP_PORT = 4;

    private final String address;
    private final int port;
    private final RpmaPeer peer;
    private final RpmaMrLocal memory;
    private final Connection connection;
    private final RdmaConnection rdmaConnection;
    private final RpmaCompletions completions = Load.completions();
    private final List<Connection> many = new ArrayList<>();
    private final List<RdmaConnection> manyRdma = new ArrayList<>();

    private Client(String address, int port) throws InterruptedException {
        this.address = address;
        this.port = port;
        peer = RpmaPeer.create(RpmaDevice.local(address));
        memory = peer.register(
                RpmaMemory.allocate(Load.MEMORY_SIZE),
                RpmaMrUsage.WRITE_SRC,
                RpmaMrUsage.READ_DST,
                RpmaMrUsage.SEND,
                RpmaMrUsage.RECV);
        connection = Connection.open(peer, address, port, Connection.QUEUE_SIZE, memory);
        rdmaConnection = RdmaConnection.open(address, port + 2);
    }

    /**
     * Runs commands until the input ends. The end of the process frees all objects.
     *
     * @param args the address and the port of the target
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        new Client(args[0], Integer.parseInt(args[1])).serve();
    }

    @Override
    String run(String[] words) throws IOException, InterruptedException {
        switch (words[0]) {
            case "connect":
                return connect(Integer.parseInt(words[1]));
            case "spread":
                return spread(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Path.of(words[3]));
            case "loop":
                return loop(many, Operation.WRITE, words);
            case "rdma-connect":
                return rdmaConnect(Integer.parseInt(words[1]));
            case "rdma-loop":
                return loop(manyRdma, Operation.RDMA_WRITE, words);
            case "disconnect":
                return disconnect();
            case "register":
                return register(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            case "regions":
                return regions(Integer.parseInt(words[1]));
            default:
                return super.run(words);
        }
    }

    @Override
    long run(Load load, long[] samples) throws IOException, InterruptedException {
        if (load.operation() == Operation.TCP) {
            try (TcpConnection tcp = TcpConnection.open(address, port + TCP_PORT, load.size())) {
                return new DirectLoad(load, tcp).run(samples);
            }
        }
        End end = load.operation().isRdmacm() ? rdmaConnection : connection;
        return load.run(end, completions, samples, 0);
    }

    private String connect(int count) throws InterruptedException {
        UsedMemory before = UsedMemory.now();
        long start = System.nanoTime();
        while (many.size() < count) {
            many.add(Connection.open(peer, address, port + 1, Connection.SMALL_QUEUE_SIZE, memory));
        }
        long time = System.nanoTime() - start;
        return time + " " + UsedMemory.now().since(before);
    }

    private String spread(int count, int over, Path file) throws IOException, InterruptedException {
        long[] samples = Samples.create(count);
        Load load = new Load(Operation.WRITE, SPREAD_BYTES, 1, Completions.POLL, 1);
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            load.run(many.get(i % over), completions, samples, i);
        }
        long time = System.nanoTime() - start;
        Samples.write(samples, file);
        return Long.toString(time);
    }

    private String rdmaConnect(int count) throws InterruptedException {
        long start = System.nanoTime();
        while (manyRdma.size() < count) {
            manyRdma.add(RdmaConnection.openSmall(address, port + 3, rdmaConnection.memory()));
        }
        return Long.toString(System.nanoTime() - start);
    }

    private static String loop(List<? extends End> connections, Operation operation, String[] words)
            throws IOException, InterruptedException {
        long[] samples = Samples.create(Integer.parseInt(words[1]));
        String answer = Loop.run(connections.subList(0, Integer.parseInt(words[2])), operation, samples);
        Samples.write(samples, Path.of(words[3]));
        return answer;
    }

    private String disconnect() throws InterruptedException {
        long start = System.nanoTime();
        while (!many.isEmpty()) {
            many.remove(many.size() - 1).close();
        }
        return Long.toString(System.nanoTime() - start);
    }

    private String register(long size, int threads) throws InterruptedException {
        try (RpmaMemory registered = RpmaMemory.allocate(size)) {
            long part = size / threads;
            RpmaMrLocal[] regions = new RpmaMrLocal[threads];
            long registration = runAtOnce(
                    threads, i -> regions[i] = peer.register(registered, i * part, part, RpmaMrUsage.WRITE_DST));
            long deregistration = runAtOnce(threads, i -> regions[i].close());
            return registration + " " + deregistration;
        }
    }

    /**
     * Runs a task for each number below {@code count}, the first in this thread and the others in a thread of their
     * own.
     *
     * @return the duration in nanoseconds
     */
    private static long runAtOnce(int count, IntConsumer task) throws InterruptedException {
        List<FutureTask<Void>> others = new ArrayList<>(count);
        long start = System.nanoTime();
        for (int i = 1; i < count; i++) {
            int number = i;
            FutureTask<Void> other = new FutureTask<>(() -> task.accept(number), null);
            others.add(other);
            new Thread(other).start();
        }
        try {
            task.accept(0);
        } finally {
            for (FutureTask<Void> other : others) {
                await(other);
            }
        }
        return System.nanoTime() - start;
    }

    private static void await(FutureTask<Void> task) throws InterruptedException {
        try {
            task.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private String regions(int count) {
        try (RpmaMemory registered = RpmaMemory.allocate((long) count * PAGE)) {
            touch(registered);
            List<RpmaMrLocal> regions = new ArrayList<>(count);
            UsedMemory before = UsedMemory.now();
            long start = System.nanoTime();
            for (long i = 0; i < count; i++) {
                regions.add(peer.register(registered.address() + i * PAGE, PAGE, registered, RpmaMrUsage.WRITE_DST));
            }
            long time = System.nanoTime() - start;
            String answer = time + " " + UsedMemory.now().since(before);
            regions.forEach(RpmaMrLocal::close);
            return answer;
        }
    }

    /** Writes to each page, so that the measurement has no page faults. */
    private static void touch(RpmaMemory memory) {
        ByteBuffer bytes = memory.buffer();
        for (int i = 0; i < bytes.limit(); i += PAGE) {
            bytes.put(i, (byte) 1);
        }
    }
}
