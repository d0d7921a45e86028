// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaFlushType;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;

/**
 * Posts a flush and an atomic write, and prints the address of the remote region and the opcodes of the completions.
 */
public final class PostsProgram {
    private PostsProgram() {}

    /**
     * @param arguments the offset and the length of the flush, and the offset of the atomic write
     */
    public static void main(String[] arguments) throws InterruptedException {
        long flushOffset = Long.parseLong(arguments[0]);
        long flushLength = Long.parseLong(arguments[1]);
        long writeOffset = Long.parseLong(arguments[2]);
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            Pair.assertPosted(pair.client.flush(
                    regions.remote,
                    flushOffset,
                    flushLength,
                    RpmaFlushType.VISIBILITY,
                    RpmaConn.F_COMPLETION_ALWAYS,
                    1));
            Pair.assertPosted(
                    pair.client.atomicWrite(regions.remote, writeOffset, 42, RpmaConn.F_COMPLETION_ALWAYS, 2));
            System.out.printf("region %#x%n", regions.remoteMemory.address());
            RpmaCompletions flushed = Pair.assertDone(pair.client.getCq(), 1);
            System.out.println("opcode " + flushed.opcode(0));
            RpmaCompletions written = Pair.assertDone(pair.client.getCq(), 2);
            System.out.println("opcode " + written.opcode(0));
        }
    }
}
