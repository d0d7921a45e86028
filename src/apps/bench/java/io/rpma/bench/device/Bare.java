// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The client in C, called from Java through native methods that check nothing ({@code src/apps/bench/c/bare.c}). It
 * does not use the library, and so it has no locks, handles or interruptions. Its additional time over C is the cost
 * that JNI adds to any binding. Its only command is {@code load}, with librpma's operations.
 */
final class Bare extends LoadClient {
    private Bare() {}

    /**
     * Runs commands until the input ends. The end of the process frees all objects.
     *
     * @param args the address and the port of the target
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        System.load(Path.of(Clients.program("libbare.so")).toAbsolutePath().toString());
        open(args[0], Integer.parseInt(args[1]));
        new Bare().serve();
    }

    @Override
    long run(Load load, long[] samples) throws IOException {
        setLoad(
                load.operation().command(),
                load.size(),
                load.depth(),
                load.how().command());
        return new DirectLoad(load, new Natives()).run(samples);
    }

    /** The native methods as the connection of a load. */
    private static final class Natives implements DirectLoad.DirectEnd {
        @Override
        public void receive(long number) {
            Bare.receive(number);
        }

        @Override
        public void post(long number) {
            Bare.post(number);
        }

        @Override
        public int take() {
            return Bare.take();
        }
    }

    /** Connects to the target. */
    private static native void open(String address, int port);

    /** Sets the load of the following calls. */
    private static native void setLoad(String operation, long size, int depth, String completions);

    /** Posts the operation with this number. */
    private static native void post(long number);

    /** Posts the receive of the answer with this number. */
    private static native void receive(long number);

    /** Takes completions, and returns the number of operations that they complete. */
    private static native int take();
}
