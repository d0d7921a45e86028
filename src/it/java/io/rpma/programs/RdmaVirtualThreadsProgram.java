// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The process of {@code RdmaVirtualThreadsIT}: many virtual threads, each of which waits for its own id of librdmacm.
 */
public final class RdmaVirtualThreadsProgram {
    public static final String REQUESTS = "requests: ";
    public static final String COMPLETIONS = "completions: ";
    public static final String RECEIVES = "receives: ";
    public static final String SOLICITED = "solicited: ";
    public static final String EVENTS = "events: ";
    public static final String CLOSED = "closed: ";

    private static final RdmaInlineData BYTES = RdmaInlineData.create(8);

    private final List<RdmaPair> pairs = new ArrayList<>();

    private RdmaVirtualThreadsProgram() {}

    /**
     * @param arguments the number of ids
     */
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        awaitRequests(count);
        new RdmaVirtualThreadsProgram().run(count);
    }

    private record Asking(RdmaId listener, RdmaId client) {
        void ask() {
            client.connect(new RdmaConnParam());
        }

        int awaitRequest() throws InterruptedException {
            RdmaPair.request(listener).close();
            return 1;
        }

        void close() {
            client.close();
            listener.close();
        }
    }

    private static void awaitRequests(int count) throws Exception {
        List<Asking> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int port = TestDevice.port();
            RdmaId listener = RdmaPair.listen(port);
            RdmaId client = RdmaPair.prepared(port);
            all.add(new Asking(listener, client));
        }
        VirtualThreadsProgram.report(REQUESTS, VirtualThreadsProgram.awaitAll(all, Asking::awaitRequest, Asking::ask));
        all.forEach(Asking::close);
    }

    private void run(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            pairs.add(RdmaPair.connect());
        }
        awaitAll(
                COMPLETIONS,
                pair -> pair.client.qp().getSendComp(RpmaCompletions.create(1)),
                RdmaVirtualThreadsProgram::write);
        awaitAll(
                RECEIVES,
                pair -> pair.server.qp().getRecvComp(RpmaCompletions.create(1), 1, TimeUnit.MINUTES),
                pair -> send(pair, 0));
        awaitAll(
                SOLICITED,
                pair -> pair.server.qp().getSolicitedRecvComp(RpmaCompletions.create(1)),
                pair -> send(pair, RdmaQp.F_SOLICITED));
        awaitAll(
                EVENTS,
                pair -> pair.client.nextEvent().type() == RdmaEventType.DISCONNECTED ? 1 : 0,
                pair -> pair.server.disconnect());
        awaitAll(CLOSED, RdmaVirtualThreadsProgram::awaitClose, RdmaPair::close);
    }

    private void awaitAll(String what, VirtualThreadsProgram.Wait<RdmaPair> wait, Consumer<RdmaPair> wake)
            throws Exception {
        VirtualThreadsProgram.report(what, VirtualThreadsProgram.awaitAll(pairs, wait, wake));
    }

    private static void write(RdmaPair pair) {
        long address = pair.serverMr.address();
        pair.client.qp().postWriteInline(BYTES, 8, RdmaQp.F_SIGNALED, address, pair.serverMr.rkey(), 1);
    }

    private static void send(RdmaPair pair, int flags) {
        pair.server.qp().postRecv(pair.serverMr, 0, 8, 1);
        pair.client.qp().postSendInline(BYTES, 8, flags, 2);
    }

    private static int awaitClose(RdmaPair pair) throws InterruptedException {
        try {
            pair.client.qp().getRecvComp(RpmaCompletions.create(1));
            return 0;
        } catch (IllegalStateException e) {
            return 1;
        }
    }
}
