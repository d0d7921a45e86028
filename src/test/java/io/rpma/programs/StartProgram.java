// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/** Makes the calls of a program up to its first write, with a librpma that does nothing. */
public final class StartProgram {
    /** Printed before the calls. */
    public static final String BEGIN = "the start begins";

    /** Printed after the calls. */
    public static final String END = "the start ends";

    private StartProgram() {}

    /**
     * Makes the calls.
     *
     * @param arguments the path of that librpma
     */
    public static void main(String[] arguments) {
        System.load(arguments[0]);
        System.out.println(BEGIN);
        RpmaPeer peer = RpmaPeer.create(RpmaDevice.local("localhost"));
        RpmaMemory memory = RpmaMemory.allocate(4096);
        RpmaMrLocal local = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.WRITE_DST);
        RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(local.getDescriptor());
        RpmaConn conn = RpmaConnReq.create(peer, "localhost", 7204, null).connect();
        conn.write(remote, 0, local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1);
        conn.getCq().poll(RpmaCompletions.create(1));
        System.out.println(END);
        conn.close();
        remote.close();
        local.close();
        memory.close();
        peer.close();
    }
}
