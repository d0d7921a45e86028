// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaPeer;
import io.rpma.tools.common.Listener;
import java.io.IOException;

/** Receives the files of senders, each in a thread of its own. */
final class CpService {
    /** The most senders, because each has 8 MiB of locked memory. */
    private static final int MOST_SENDERS = 16;

    private final String address;
    private final int port;
    private final CpDirectory directory;

    CpService(String address, int port, CpDirectory directory) {
        this.address = address;
        this.port = port;
        this.directory = directory;
    }

    /** Serves until the thread is interrupted. */
    void serve() throws IOException, InterruptedException {
        try (RpmaConnCfg cfg = CpReceiver.connCfg()) {
            new Listener(MOST_SENDERS).serve(address, port, cfg, this::accept);
        }
    }

    private Listener.Session accept(int number, RpmaPeer peer, RpmaConnReq request) throws Listener.RefusedException {
        if (!CpMessage.isSender(request.getPrivateData())) {
            throw Listener.RefusedException.ofAnotherProgram();
        }
        return CpReceiver.accept(number, peer, request, directory);
    }
}
