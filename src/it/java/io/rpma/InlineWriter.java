// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The write by librdmacm that the guide shows. */
final class InlineWriter {
    private InlineWriter() {}

    /** Connects, and writes the bytes to the other side's address. */
    static void write(
            String address, int port, RdmaInlineData data, long remoteAddr, int rkey, RpmaCompletions completions)
            throws InterruptedException, IOException {
        try (RdmaAddrInfo there = RdmaAddrInfo.active(address, port, RdmaPortSpace.TCP);
                RdmaId id = RdmaId.createEp(there, new RdmaQpInitAttr().maxInlineData(64))) {
            id.connect(new RdmaConnParam());
            id.awaitEvent(RdmaEventType.ESTABLISHED, 30, TimeUnit.SECONDS);
            boolean posted = id.qp().postWriteInline(data, data.capacity(), RdmaQp.F_SIGNALED, remoteAddr, rkey, 1);
            if (!posted || id.qp().getSendComp(completions, 30, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
                throw new IOException("not written: " + completions);
            }
        }
    }
}
