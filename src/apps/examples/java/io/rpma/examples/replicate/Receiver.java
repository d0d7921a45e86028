// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaPeer;
import io.rpma.support.OfferedMemory;
import io.rpma.support.Output;
import io.rpma.support.Size;
import io.rpma.support.TargetMemory;
import java.io.IOException;

/**
 * Offers memory to one sender, waits until the sender is gone, and checks the file in the memory.
 *
 * <p>The RDMA device (or the kernel, for soft-RoCE) writes the bytes into the memory. A sender whose flushes do not
 * make them persistent asks this program to make them persistent.
 */
final class Receiver {
    /** The identifier of this program, which a sender expects: "rpma". */
    static final int SERVICE = 0x7270_6d61;

    private final String address;
    private final int port;
    private final int timeout;
    private final int transferTimeout;
    private final Output output = Output.toStandardOutput("receiver");

    /**
     * Sets up a receiver.
     *
     * @param address the address of an RDMA device, to listen on
     * @param port the port to listen on
     * @param timeout for a sender to connect, to send a message, and then to answer a probe, in seconds
     * @param transferTimeout for the sender to finish, in seconds
     */
    Receiver(String address, int port, int timeout, int transferTimeout) {
        this.address = address;
        this.port = port;
        this.timeout = timeout;
        this.transferTimeout = transferTimeout;
    }

    /**
     * Receives one file.
     *
     * @param where the memory: a path or {@link TargetMemory#AUTO}
     * @param size of the memory in bytes, or 0
     * @param directWrite whether the operator has stated that the platform makes written bytes persistent
     * @throws IOException if no complete and correct file has arrived
     */
    void receive(String where, long size, boolean directWrite) throws IOException, InterruptedException {
        RpmaDevice device = RpmaDevice.local(address);
        TargetMemory target = new TargetMemory(size, output::say);
        try (RpmaPeer peer = RpmaPeer.create(device);
                RpmaMemory memory = target.open(where);
                RpmaMrLocal region = register(peer, target, memory);
                OfferedMemory offered = new OfferedMemory(peer, memory, region, directWrite)) {
            CommittedFile file = new CommittedFile(memory, output);
            Layout.reset(memory);
            serve(peer, offered);
            if (!file.check(target.description())) {
                throw new IOException("the sender is gone and has committed nothing");
            }
        }
    }

    private RpmaMrLocal register(RpmaPeer peer, TargetMemory target, RpmaMemory memory) {
        output.say("memory", target.description() + ", " + Size.format(memory.size()));
        output.say("registering", "the memory, which locks it and takes seconds if it is large");
        RpmaMrLocal region = target.register(peer, memory);
        output.say("registered", "for remote writes");
        return region;
    }

    /** Accepts one sender and serves it until it disconnects. */
    private void serve(RpmaPeer peer, OfferedMemory offered) throws IOException, InterruptedException {
        try (RpmaConn conn = accept(peer, offered)) {
            output.say("a sender has connected");
            String end = offered.serve(conn, timeout, SECONDS.toNanos(transferTimeout))
                    .orElseThrow(() -> new IOException(
                            "the sender has not disconnected within " + transferTimeout + " s (--transfer-timeout)"));
            output.say("the sender is gone: " + end);
            // Closing the connection answers the sender's disconnect.
        }
    }

    private RpmaConn accept(RpmaPeer peer, OfferedMemory offered) throws IOException, InterruptedException {
        try (RpmaEp endpoint = RpmaEp.listen(peer, address, port);
                RpmaConnCfg cfg = OfferedMemory.connCfg()) {
            output.say("listening", address + " port " + port + ", for " + timeout + " s");
            RpmaConnReq request = endpoint.nextConnReq(cfg, timeout, SECONDS)
                    .orElseThrow(() -> new IOException("no sender has connected within " + timeout + " s (--timeout)"));
            return offered.accept(request, SERVICE, timeout);
        }
    }
}
