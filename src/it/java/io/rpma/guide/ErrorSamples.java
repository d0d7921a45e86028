// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The samples of docs/guide/errors.md. */
final class ErrorSamples {
    private ErrorSamples() {}

    static RpmaPeer peerTowards(String server) throws IOException {
        try {
            return RpmaPeer.create(RpmaDevice.remote(server));
        } catch (RpmaException e) {
            throw new IOException("no local device reaches " + server, e);
        }
    }

    /** Connects, or throws an exception after at most 14 seconds, the resolution of a name and the close. */
    static RpmaConn connect(RpmaPeer peer, String server, int port) throws IOException, InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(2000)) {
            return RpmaConnReq.create(peer, server, port, cfg).connect(10, TimeUnit.SECONDS);
        } catch (RpmaException e) {
            throw new IOException("can't connect to " + server, e);
        }
    }

    /**
     * Takes one completion. After an exception, close the connection and make a new one.
     *
     * @throws RpmaException if the connection has ended
     */
    static long takeCompletion(RpmaConn conn, RpmaCompletions completions) throws IOException, InterruptedException {
        if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0) {
            throw new IOException("no completion within 10 s: the other host or the network is down");
        }
        if (!completions.isSuccess(0)) {
            throw new IOException("operation " + completions.wrId(0) + ": "
                    + completions.status(0).description());
        }
        return completions.wrId(0);
    }

    /** Closes the connection if its host answers nothing for 5 seconds. The loop serves its completions. */
    static void watch(RpmaEventLoop loop, RpmaConn conn, Executor closer) {
        loop.on(closer).onPeerLost(conn, 1, 5, TimeUnit.SECONDS, RpmaConn::close);
    }
}
