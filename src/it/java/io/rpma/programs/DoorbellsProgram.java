// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static io.rpma.testing.RdmaPair.sent;

import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaPreparedBatch;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;

/** Posts chains of writes, or the same writes one by one. Each write of a sequence has a different offset. */
public final class DoorbellsProgram {
    private DoorbellsProgram() {}

    /**
     * @param arguments the way to post: {@code batch}, {@code prepared} or {@code single}; the number of sequences; and
     *     the number of writes in each
     */
    public static void main(String[] arguments) throws InterruptedException {
        int sequences = Integer.parseInt(arguments[1]);
        int writes = Integer.parseInt(arguments[2]);
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaBatch batch = RdmaBatch.create(writes);
            record(batch, pair, writes);
            RdmaPreparedBatch prepared = batch.prepare();
            for (int i = 0; i < sequences; i++) {
                switch (arguments[0]) {
                    case "batch":
                        record(batch, pair, writes);
                        Pair.assertPosted(batch.post() == writes);
                        break;
                    case "prepared":
                        Pair.assertPosted(prepared.post());
                        break;
                    case "single":
                        post(pair, writes);
                        break;
                    default:
                        throw new IllegalArgumentException(arguments[0]);
                }
                sent(pair.client.qp(), writes - 1);
            }
        }
    }

    private static void record(RdmaBatch batch, RdmaPair pair, int writes) {
        for (int i = 0; i < writes; i++) {
            Pair.assertPosted(batch.write(
                    pair.client.qp(),
                    pair.clientMr,
                    i * Long.BYTES,
                    Long.BYTES,
                    0,
                    pair.serverMr.address() + i * Long.BYTES,
                    pair.serverMr.rkey(),
                    i));
        }
        batch.signalLast();
    }

    private static void post(RdmaPair pair, int writes) {
        for (int i = 0; i < writes; i++) {
            Pair.assertPosted(pair.client
                    .qp()
                    .postWrite(
                            pair.clientMr,
                            i * Long.BYTES,
                            Long.BYTES,
                            i == writes - 1 ? RdmaQp.F_SIGNALED : 0,
                            pair.serverMr.address() + i * Long.BYTES,
                            pair.serverMr.rkey(),
                            i));
        }
    }
}
