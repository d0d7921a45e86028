// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/** Offers memory with a name, which the server reads. */
public final class Example06MultipleConnectionsClient {
    private static final String[] NAMES = {
        "Andy", "Chet", "Derek", "Janek", "Kacper", "Lukasz", "Oksana", "Pawel", "Piotr", "Tomasz", "Xiang", "Xiaoran",
        "Xiaoyan"
    };

    private static final long SEEDS = 0xffffffffL;

    private Example06MultipleConnectionsClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, and a number that picks the name
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        run(args, "06-multiple-connections");
    }

    /** Runs the client of this example or of 06scch, in which only the server has a shared completion channel. */
    static void run(String[] args, String example) throws InterruptedException {
        Common.start(args, 3, example + " client <server_address> <port> <seed>");
        String name = name(Common.number(args[2]));
        Common.OUT.println("My names is: " + name);
        try (RpmaMemory memory = RpmaMemory.allocate(MultipleConnections.NAME_SIZE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaMrLocal mr = peer.register(memory, RpmaMrUsage.READ_SRC)) {
            memory.buffer().put(Common.bytes(name));
            byte[] data = CommonData.of(mr, 0).toBytes();
            try (RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, data)) {
                Common.awaitClosed(conn);
            }
        }
    }

    /** Returns the name that librpma's example picks. */
    static String name(long seed) {
        return NAMES[random((int) Long.remainderUnsigned(seed, SEEDS)) % NAMES.length];
    }

    /**
     * Returns the first number of glibc's rand(3) after srand(3): an additive generator, initialised by a linear
     * generator.
     */
    private static int random(int seed) {
        int[] state = new int[31];
        state[0] = seed == 0 ? 1 : seed;
        for (int i = 1; i < state.length; i++) {
            state[i] = Math.floorMod(16807L * state[i - 1], Integer.MAX_VALUE);
        }
        int next = 0;
        for (int i = 0; i <= 10 * state.length; i++) {
            next = (i + 3) % state.length;
            state[next] += state[i % state.length];
        }
        return state[next] >>> 1;
    }
}
