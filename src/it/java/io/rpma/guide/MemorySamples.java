// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaWcOpcode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The samples of docs/guide/memory.md. */
final class MemorySamples {
    private MemorySamples() {}

    static String describe(Path path) throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(path, 2 << 20)) {
            return memory.kind() + (memory.isPersistent() ? ", persistent" : ", not persistent");
        }
    }

    static void makeVisible(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local, int length)
            throws IOException, InterruptedException {
        boolean posted = conn.write(remote, 0, local, 0, length, RpmaConn.F_COMPLETION_ON_ERROR, 1)
                && conn.flush(remote, 0, length, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2);
        if (!posted) {
            throw new IOException("the send queue is full");
        }
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException("not written: " + completions);
        }
    }

    /** Accepts a client whose bytes this program makes persistent. */
    static RpmaConn accept(RpmaConnReq request, RpmaMrLocal requests, byte[] offer) {
        request.recv(requests, 0, 1, 0);
        return request.connect(offer);
    }

    /** Makes the memory persistent on one request of a client. */
    static void persistOnRequest(RpmaConn client, RpmaMemory memory) throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        do {
            if (client.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0
                    || !completions.isSuccess(0)) {
                throw new IOException("no request: " + completions);
            }
            // the other completion is the end of the previous answer
        } while (completions.opcode(0) != RpmaWcOpcode.RECV);
        memory.persist();
        if (!client.recv(1) || !client.send(RpmaConn.F_COMPLETION_ALWAYS, 2)) {
            throw new IOException("a queue is full");
        }
    }

    /** Writes bytes, and returns when the program of the other side has made them persistent. */
    static void writePersistently(RpmaConn conn, RpmaMrRemote remote, RpmaMrLocal local, int length)
            throws IOException, InterruptedException {
        boolean posted = conn.recv(1)
                && conn.write(remote, 0, local, 0, length, RpmaConn.F_COMPLETION_ON_ERROR, 2)
                && conn.send(RpmaConn.F_COMPLETION_ALWAYS, 3);
        if (!posted) {
            throw new IOException("a queue is full");
        }
        RpmaCompletions completions = RpmaCompletions.create(1);
        // the end of the send and the answer, in either order
        for (int i = 0; i < 2; i++) {
            if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
                throw new IOException("not persistent: " + completions);
            }
        }
    }
}
