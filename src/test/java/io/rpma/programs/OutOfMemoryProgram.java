// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMemoryPool;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaSrq;
import io.rpma.RpmaSrqCfg;
import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.testing.Limit;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Runs sessions with a few free bytes on the heap, a different number each time, so that memory runs out at any step,
 * and closes all that the sessions opened. Requires a small heap without thread-local allocation buffers.
 */
public final class OutOfMemoryProgram {
    private static final int WARM_UP = 10;
    private static final int BLOCK = 1 << 16;
    private static final int CRUMB = 112;

    /** All objects that a session keeps fit into the memory of this many crumbs. */
    private static final int MOST_CRUMBS = 300;

    /** Some closes of all objects do not fit into the memory of this many crumbs. */
    private static final int MOST_CRUMBS_OF_CLOSE = 12;

    /** Enough regions that the list of the peer's children must grow. */
    private static final int REGIONS = 24;

    private static final RpmaMrUsage[] USAGES = {
        RpmaMrUsage.WRITE_SRC, RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY
    };
    private static final RdmaAccess[] ACCESS = {RdmaAccess.LOCAL_WRITE};

    private final Random random;
    private final Object[] blocks = new Object[1024];
    private final Object[] crumbs = new Object[1 << 17];
    private int crumbCount;
    private final AutoCloseable[] opened = new AutoCloseable[64];
    private int openedCount;
    private final List<AutoCloseable> atOnce = new ArrayList<>(opened.length);
    private int closedAtOnce;
    private int ranOutAtOnce;

    private OutOfMemoryProgram(long seed) {
        random = new Random(seed);
    }

    /** Takes the number of sessions and the seed. */
    public static void main(String[] arguments) throws Exception {
        new OutOfMemoryProgram(Long.parseLong(arguments[1])).run(Integer.parseInt(arguments[0]));
    }

    private void run(int sessions) throws Exception {
        for (int i = 0; i < WARM_UP; i++) {
            session(i);
            closeTooEarly();
            close();
        }
        OpenResources before = OpenResources.now();
        int ranOut = 0;
        for (int i = 0; i < sessions; i++) {
            fill();
            free(MOST_CRUMBS);
            boolean withoutMemory = random.nextInt(4) == 0;
            try {
                session(i);
            } catch (VirtualMachineError e) {
                // an InternalError if the JVM has no memory to link a call
                ranOut++;
            }
            if (withoutMemory) {
                closeWithoutMemory();
            }
            release();
            close();
            if (Natives.handleCount() != 0) {
                throw new AssertionError("session " + i + " has left " + Natives.handleCount() + " native objects");
            }
        }
        before.assertSameNow(1);
        System.out.println("ran out of memory: " + ranOut);
        System.out.println("closed at once: " + closedAtOnce + ", ran out: " + ranOutAtOnce);
    }

    private void fill() {
        try {
            for (int i = 0; i < blocks.length; i++) {
                blocks[i] = new byte[BLOCK];
            }
        } catch (OutOfMemoryError e) {
            fillUp();
        }
    }

    private void fillUp() {
        try {
            while (true) {
                crumbs[crumbCount] = new byte[CRUMB];
                crumbCount++;
            }
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    private void free(int most) {
        for (int free = random.nextInt(most); free > 0 && crumbCount > 0; free--) {
            crumbs[--crumbCount] = null;
        }
    }

    private void release() {
        Arrays.fill(blocks, null);
        Arrays.fill(crumbs, null);
        crumbCount = 0;
    }

    private void session(int number) throws Exception {
        if (number % 2 == 0) {
            rpma();
        } else {
            rdmacm();
        }
    }

    private <T extends AutoCloseable> T open(T object) {
        opened[openedCount++] = object;
        return object;
    }

    /** Objects whose close fails for lack of memory are closed later. */
    private void closeWithoutMemory() throws Exception {
        if (random.nextBoolean()) {
            closePools();
            fillUp();
            free(MOST_CRUMBS_OF_CLOSE);
            closeAtOnce();
        }
        for (int i = openedCount - 1; i >= 0; i--) {
            try {
                opened[i].close();
            } catch (VirtualMachineError | IllegalStateException e) {
                continue;
            }
        }
    }

    private void closePools() {
        for (int i = 0; i < openedCount; i++) {
            if (opened[i] instanceof RpmaMemoryPool) {
                ((RpmaMemoryPool) opened[i]).close();
            }
        }
    }

    /** The warm-up does not close at once, so that memory can run out when the classes for this are loaded. */
    private void closeAtOnce() {
        atOnce.clear();
        for (int i = 0; i < openedCount; i++) {
            if (!(opened[i] instanceof RpmaMemoryPool)) {
                atOnce.add(opened[i]);
            }
        }
        try {
            RpmaObjects.closeAll(atOnce);
            closedAtOnce++;
        } catch (VirtualMachineError e) {
            ranOutAtOnce++;
        }
    }

    /** Loads the classes that the refusal of a close needs. */
    private void closeTooEarly() {
        AutoCloseable parent = opened[0];
        if (parent instanceof RpmaPeer) {
            assertThrows(IllegalStateException.class, parent::close);
        }
    }

    private void close() throws Exception {
        while (openedCount > 0) {
            openedCount--;
            opened[openedCount].close();
            opened[openedCount] = null;
        }
    }

    private void rpma() throws Exception {
        int port = TestDevice.port();
        String address = TestDevice.address();
        RpmaPeer peer = open(RpmaPeer.create(RpmaDevice.local(address)));
        RpmaSrqCfg srqCfg = open(RpmaSrqCfg.create());
        RpmaSrq srq = open(RpmaSrq.create(peer, srqCfg));
        RpmaMemory memory = open(RpmaMemory.allocate(4096));
        RpmaMrLocal region = open(peer.register(memory, USAGES));
        for (int i = 0; i < REGIONS; i++) {
            open(peer.register(memory, USAGES));
        }
        RpmaEp ep = open(RpmaEp.listen(peer, address, port));
        RpmaConnCfg cfg = open(RpmaConnCfg.create());
        cfg.setSrq(srq);
        RpmaConnReq asking = open(RpmaConnReq.create(peer, address, port, null));
        RpmaConn client = open(asking.connect());
        RpmaConnReq asked = open(ep.nextConnReq(cfg, Limit.WAIT_S, SECONDS).orElseThrow());
        RpmaConn server = open(asked.connect());
        client.nextEvent(Limit.WAIT_S, SECONDS);
        server.nextEvent(Limit.WAIT_S, SECONDS);
        RpmaMrRemote remote = open(RpmaMrRemote.fromDescriptor(region.getDescriptor()));
        RpmaMemory buffers = open(RpmaMemory.allocate(4096));
        open(RpmaMemoryPool.create(buffers, 1024));
        RpmaPeerCfg peerCfg = open(RpmaPeerCfg.create());
        client.applyRemotePeerCfg(peerCfg);
        RpmaCompletions completions = RpmaCompletions.create(1);
        client.write(remote, 0, region, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1);
        client.getCq().await(completions, Limit.WAIT_S, SECONDS);
        RpmaEventLoop loop = open(RpmaEventLoop.create());
        loop.onEvent(client, event -> {});
    }

    private void rdmacm() throws Exception {
        int port = TestDevice.port();
        String address = TestDevice.address();
        RdmaAddrInfo here = open(RdmaAddrInfo.passive(address, port, RdmaPortSpace.TCP));
        RdmaId listener = open(RdmaId.createEp(here, new RdmaQpInitAttr()));
        listener.listen(0);
        RdmaAddrInfo there = open(RdmaAddrInfo.active(address, port, RdmaPortSpace.TCP));
        RdmaId client = open(RdmaId.createEp(there, null));
        client.createSrq(1, 1);
        client.createQp(new RdmaQpInitAttr());
        RpmaMemory memory = open(RpmaMemory.allocate(4096));
        RdmaMr region = open(RdmaMr.reg(client, memory, ACCESS));
        client.connect(new RdmaConnParam());
        RdmaId server = open(listener.getRequest(Limit.WAIT_S, SECONDS).orElseThrow());
        server.accept(new RdmaConnParam());
        client.awaitEvent(RdmaEventType.ESTABLISHED, Limit.WAIT_S, SECONDS);
        server.awaitEvent(RdmaEventType.ESTABLISHED, Limit.WAIT_S, SECONDS);
        RpmaCompletions completions = RpmaCompletions.create(1);
        client.qp().postSend(region, 0, 8, 0, 1);
        client.qp().pollSendComp(completions);
    }
}
