// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client that breaks the rules. It uses librdmacm's verbs, which take any address and any key. After each attack,
 * another connection of the server works, and the memory beside the offered region is unchanged. In the end, nothing is
 * left of the attack.
 */
class HostilePeerIT extends WithPeer {
    private static final int PAGE = 4096;
    private static final int KEY_BITS = 32;
    private static final int REQUEST_DATA = 56;
    private static final int ALL_USAGES = 0xff;
    private static final long SEED = Long.getLong("rpma.random.seed", System.nanoTime());
    private static final int HALF_OPEN =
            Integer.getInteger("rpma.half.open", Boolean.getBoolean("rpma.long") ? 500 : 100);
    private static final int STORM = Integer.getInteger("rpma.storm", 100);

    private final Random random = new Random(SEED);
    private RpmaEp ep;
    private Pair good;
    private Regions goodRegions;
    private RpmaMemory memory;
    private byte[] before;
    private OpenResources resources;

    /** An attack by an id with a connection to the server. */
    private interface Attack {
        RpmaWcStatus status(Hostile hostile) throws InterruptedException;
    }

    /** The client, with memory of its own, and the server's side of the connection. */
    private static final class Hostile implements AutoCloseable {
        final RdmaId id;
        final RpmaConn victim;
        final RpmaMemory own = RpmaMemory.allocate(PAGE);
        final RdmaMr mr;

        Hostile(RdmaId id, RpmaConn victim) {
            this.id = id;
            this.victim = victim;
            mr = RdmaMr.reg(id, own, RdmaAccess.values());
        }

        RpmaWcStatus status(boolean posted) throws InterruptedException {
            Pair.assertPosted(posted);
            RpmaCompletions completions = RpmaCompletions.create(1);
            assertThat(id.qp().getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS))
                    .isEqualTo(1);
            return completions.status(0);
        }

        RpmaWcStatus write(long length, long address, int key) throws InterruptedException {
            return status(id.qp().postWrite(mr, 0, length, RdmaQp.F_SIGNALED, address, key, 1));
        }

        RpmaWcStatus read(long length, long address, int key) throws InterruptedException {
            return status(id.qp().postRead(mr, 0, length, RdmaQp.F_SIGNALED, address, key, 1));
        }

        RpmaWcStatus add(long address, int key) throws InterruptedException {
            return status(id.qp().postFetchAndAdd(mr, 0, RdmaQp.F_SIGNALED, address, key, 1, 1));
        }

        @Override
        public void close() {
            mr.close();
            id.close();
            own.close();
            victim.close();
        }
    }

    @BeforeAll
    static void printSeed() {
        System.out.println("rpma.random.seed=" + SEED);
    }

    @BeforeEach
    void offer() throws InterruptedException {
        ep = RpmaEp.listen(peer, address, port);
        good = Pair.connect(peer, null, null);
        goodRegions = new Regions(peer, PAGE);
        memory = RpmaMemory.allocate(3 * PAGE);
        before = new byte[3 * PAGE];
        random.nextBytes(before);
        memory.buffer().put(before);
        assertTheGoodConnectionWorks();
        resources = OpenResources.now();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        try {
            // JUnit calls this method also after a set-up that failed or found no device
            if (resources != null) {
                assertTheGoodConnectionWorks();
                assertTheRestIsUnchanged();
                // JUnit calls each method in a thread of its own
                resources.assertSameNow(3);
            }
        } finally {
            for (AutoCloseable opened : Arrays.asList(memory, goodRegions, good, ep)) {
                if (opened != null) {
                    opened.close();
                }
            }
        }
    }

    private void assertTheGoodConnectionWorks() throws InterruptedException {
        goodRegions.fillLocal(random.nextLong());
        Pair.assertPosted(
                good.client.write(goodRegions.remote, 0, goodRegions.local, 0, PAGE, RpmaConn.F_COMPLETION_ALWAYS, 1));
        Pair.assertDone(good.client, 1);
        Pair.assertPosted(good.client.flush(
                goodRegions.remote, 0, PAGE, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2));
        Pair.assertDone(good.client, 2);
        assertThat(goodRegions.remoteMemory.buffer()).isEqualTo(goodRegions.localMemory.buffer());
    }

    /** Checks the pages before and after the page of the region. */
    private void assertTheRestIsUnchanged() {
        for (int page = 0; page <= 2; page += 2) {
            byte[] now = new byte[PAGE];
            memory.buffer().get(page * PAGE, now);
            assertThat(now).as("page %d", page).isEqualTo(Arrays.copyOfRange(before, page * PAGE, (page + 1) * PAGE));
        }
    }

    private void assertUnchanged() {
        assertThat(memory.buffer()).isEqualTo(ByteBuffer.wrap(before));
    }

    private RpmaConnReq nextRequest() throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    private Hostile connect(RdmaConnParam param) throws InterruptedException {
        RdmaId id = RdmaPair.prepared(port);
        id.connect(param);
        RpmaConn victim = nextRequest().connect();
        RdmaPair.awaitEvent(id, RdmaEventType.ESTABLISHED);
        Pair.assertEvent(RpmaConnEvent.ESTABLISHED, victim);
        return new Hostile(id, victim);
    }

    /**
     * Makes each attack with a connection of its own, and checks that the server refuses it and that no byte changes.
     */
    private void assertRefused(List<Attack> attacks) throws InterruptedException {
        for (int i = 0; i < attacks.size(); i++) {
            try (Hostile hostile = connect(new RdmaConnParam())) {
                assertThat(attacks.get(i).status(hostile)).as("attack %d", i).isEqualTo(RpmaWcStatus.REM_ACCESS_ERR);
            }
            assertUnchanged();
            assertTheGoodConnectionWorks();
        }
    }

    private RpmaMrLocal offered(RpmaMrUsage... usages) {
        return peer.register(memory, PAGE, PAGE, usages);
    }

    private static int key(RpmaMrLocal region) {
        return ByteBuffer.wrap(region.getDescriptor())
                .order(ByteOrder.LITTLE_ENDIAN)
                .getInt(2 * Long.BYTES);
    }

    @Tag("remote-errors")
    @Test
    void bytesOutsideOfTheRegion() throws InterruptedException {
        try (RpmaMrLocal region = offered(RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC)) {
            int key = key(region);
            long start = memory.address() + PAGE;
            List<Attack> attacks = new ArrayList<>();
            for (long at :
                    new long[] {start - 1, start - PAGE, start + PAGE - 7, start + PAGE, 0, -8, Long.MAX_VALUE}) {
                attacks.add(hostile -> hostile.write(8, at, key));
                attacks.add(hostile -> hostile.read(8, at, key));
            }
            attacks.add(hostile -> hostile.write(PAGE, start + 1, key));
            attacks.add(hostile -> hostile.read(PAGE, start - 1, key));
            assertRefused(attacks);
        }
    }

    @Tag("remote-errors")
    @Test
    void keysThatDifferInOneBit() throws InterruptedException {
        try (RpmaMrLocal region = offered(RpmaMrUsage.WRITE_DST)) {
            List<Attack> attacks = new ArrayList<>();
            for (int bit = 0; bit < KEY_BITS; bit++) {
                int wrong = key(region) ^ 1 << bit;
                attacks.add(hostile -> hostile.write(8, memory.address() + PAGE, wrong));
            }
            assertRefused(attacks);
        }
    }

    @Tag("remote-errors")
    @Test
    void usagesThatWereNotGranted() throws InterruptedException {
        long start = memory.address() + PAGE;
        try (RpmaMrLocal readable = offered(RpmaMrUsage.READ_SRC);
                RpmaMrLocal writable = offered(RpmaMrUsage.WRITE_DST);
                RpmaMrLocal message = offered(RpmaMrUsage.RECV)) {
            assertRefused(List.of(
                    hostile -> hostile.write(8, start, key(readable)),
                    hostile -> hostile.add(start, key(readable)),
                    hostile -> hostile.read(8, start, key(writable)),
                    hostile -> hostile.add(start, key(writable)),
                    hostile -> hostile.write(8, start, key(message)),
                    hostile -> hostile.read(8, start, key(message))));
        }
    }

    @Tag("remote-errors")
    @Test
    void aRegionThatIsClosed() throws InterruptedException {
        RpmaMrLocal region = offered(RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC);
        int key = key(region);
        long start = memory.address() + PAGE;
        region.close();
        assertRefused(List.of(hostile -> hostile.write(8, start, key), hostile -> hostile.read(8, start, key)));
    }

    /** A region belongs to its peer, so a server with a peer for each client keeps the clients apart. */
    @Tag("remote-errors")
    @Test
    void aRegionOfAnotherPeer() throws InterruptedException {
        try (RpmaPeer other = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMrLocal region = other.register(memory, PAGE, PAGE, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC)) {
            long start = memory.address() + PAGE;
            assertRefused(List.of(
                    hostile -> hostile.write(8, start, key(region)), hostile -> hostile.read(8, start, key(region))));
        }
    }

    /** A region that is revoked while a client writes to it: no write changes its memory after the close. */
    @Tag("remote-errors")
    @Test
    void writesWhileTheRegionCloses() throws InterruptedException {
        RpmaMrLocal region = offered(RpmaMrUsage.WRITE_DST);
        int key = key(region);
        long start = memory.address() + PAGE;
        try (Hostile hostile = connect(new RdmaConnParam())) {
            // each write has other bytes, so that each late write changes the memory
            byte[] patterns = new byte[PAGE];
            random.nextBytes(patterns);
            hostile.own.buffer().put(patterns);
            int writes = 8;
            int length = PAGE / (writes + 1);
            RdmaQp qp = hostile.id.qp();
            for (int i = 0; i < writes; i++) {
                Pair.assertPosted(qp.postWrite(hostile.mr, (long) i * length, length, 0, start, key, i));
            }
            region.close();
            byte[] revoked = new byte[PAGE];
            memory.buffer().get(PAGE, revoked);
            // the first completion is that of the first write that failed, and no write after it takes effect
            boolean posted =
                    qp.postWrite(hostile.mr, (long) writes * length, length, RdmaQp.F_SIGNALED, start, key, writes);
            assertThat(hostile.status(posted)).isSameAs(RpmaWcStatus.REM_ACCESS_ERR);
            byte[] now = new byte[PAGE];
            memory.buffer().get(PAGE, now);
            assertThat(now).isEqualTo(revoked);
        }
    }

    @Tag("remote-errors")
    @Test
    void aMessageLongerThanItsReceive() throws InterruptedException {
        try (RpmaMrLocal region = offered(RpmaMrUsage.RECV);
                Hostile hostile = connect(new RdmaConnParam())) {
            Pair.assertPosted(hostile.victim.recv(region, PAGE - 64, 64, 1));
            assertThat(hostile.status(hostile.id.qp().postSend(hostile.mr, 0, PAGE, RdmaQp.F_SIGNALED, 1)))
                    .isIn(RpmaWcStatus.REM_INV_REQ_ERR, RpmaWcStatus.REM_OP_ERR);
            RpmaCompletions received = RpmaCompletions.create(1);
            assertThat(hostile.victim.getCq().await(received, Limit.WAIT_S, TimeUnit.SECONDS))
                    .isEqualTo(1);
            assertThat(received.status(0)).isIn(RpmaWcStatus.LOC_LEN_ERR, RpmaWcStatus.LOC_QP_OP_ERR);
        }
        assertUnchanged();
    }

    /** The message or the write waits for a receive, until the client disconnects. */
    @Tag("remote-errors")
    @Test
    void messagesAndImmediateDataWithoutAReceive() throws InterruptedException {
        try (RpmaMrLocal region = offered(RpmaMrUsage.WRITE_DST)) {
            for (boolean message : new boolean[] {true, false}) {
                try (Hostile hostile = connect(new RdmaConnParam())) {
                    RdmaQp qp = hostile.id.qp();
                    int signaled = RdmaQp.F_SIGNALED;
                    Pair.assertPosted(
                            message
                                    ? qp.postSend(hostile.mr, 0, 8, signaled, 1)
                                    : qp.postWriteWithImm(
                                            hostile.mr, 0, 8, signaled, memory.address() + PAGE, key(region), 7, 1));
                    assertTheGoodConnectionWorks();
                    assertThat(qp.pollSendComp(RpmaCompletions.create(1))).isZero();
                    // another device may write the bytes before it searches for the receive
                    if (TestDevice.isSoft()) {
                        assertUnchanged();
                    }
                    hostile.id.disconnect();
                    Pair.assertEvent(RpmaConnEvent.CLOSED, hostile.victim);
                }
            }
        }
    }

    /** Random bytes either make no remote region, or one whose operations fail. */
    @Tag("infiniband-cm")
    @Test
    void privateDataOfEachLength() throws InterruptedException {
        for (int length = 0; length <= REQUEST_DATA; length++) {
            byte[] data = new byte[length];
            random.nextBytes(data);
            try (RdmaId id = RdmaPair.prepared(port)) {
                id.connect(new RdmaConnParam().privateData(data));
                try (RpmaConnReq request = nextRequest()) {
                    byte[] received = request.getPrivateData();
                    assertThat(received).isEqualTo(Arrays.copyOf(data, REQUEST_DATA));
                    parse(received).ifPresent(RpmaMrRemote::close);
                }
            }
        }
        assertUnchanged();
    }

    private static Optional<RpmaMrRemote> parse(byte[] descriptor) {
        try {
            return Optional.of(RpmaMrRemote.fromDescriptor(descriptor));
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("memory region");
            return Optional.empty();
        }
    }

    @Test
    void descriptorsOfEachLength() {
        for (int length = 0; length <= 3 * RpmaMrLocal.DESCRIPTOR_SIZE; length++) {
            byte[] descriptor = new byte[length];
            random.nextBytes(descriptor);
            Optional<RpmaMrRemote> region = parse(descriptor);
            assertThat(region.isPresent() && length < RpmaMrLocal.DESCRIPTOR_SIZE)
                    .isFalse();
            region.ifPresent(RpmaMrRemote::close);
        }
    }

    /** The server of this test writes to regions whose descriptors the client has made up. */
    @Tag("remote-errors")
    @Test
    void descriptorsOfNoRegion() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            byte[] descriptor = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
            random.nextBytes(descriptor);
            ByteBuffer fields = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
            fields.putLong(0, fields.getLong(0) >>> 2);
            fields.putLong(Long.BYTES, PAGE);
            descriptor[RpmaMrLocal.DESCRIPTOR_SIZE - 1] = (byte) ALL_USAGES;
            try (Pair pair = Pair.connect(peer, null, null);
                    RpmaMrRemote nowhere = parse(descriptor).orElseThrow()) {
                Pair.assertPosted(
                        pair.server.write(nowhere, 0, goodRegions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1));
                Pair.assertCompletion(pair.server, 1, RpmaWcStatus.REM_ACCESS_ERR);
            }
            assertTheGoodConnectionWorks();
        }
        assertUnchanged();
    }

    /** The clients do not answer the acceptance, so that no connection is established. */
    @Tag("many-connections")
    @Test
    void halfOpenConnections() throws InterruptedException {
        List<RdmaId> clients = new ArrayList<>();
        List<RpmaConn> victims = new ArrayList<>();
        try {
            for (int i = 0; i < HALF_OPEN; i++) {
                clients.add(RdmaPair.connecting(port));
                victims.add(nextRequest().connect());
            }
            assertTheGoodConnectionWorks();
            connect(new RdmaConnParam()).close();
            for (RpmaConn victim : victims) {
                assertThat(victim.nextEvent(0, TimeUnit.SECONDS)).isEmpty();
            }
        } finally {
            RpmaObjects.closeAll(victims);
            clients.forEach(RdmaId::close);
        }
    }

    /** The clients vanish before the server has taken their requests. The last client stays. */
    @Tag("infiniband-cm")
    @Test
    void clientsThatConnectAndVanish() throws InterruptedException {
        for (int i = 0; i < STORM; i++) {
            RdmaPair.connecting(port).close();
        }
        byte[] lastData = {1};
        try (RdmaId last = RdmaPair.prepared(port)) {
            last.connect(new RdmaConnParam().privateData(lastData));
            boolean isLast = false;
            while (!isLast) {
                try (RpmaConnReq request = nextRequest()) {
                    isLast = request.getPrivateData()[0] == lastData[0];
                    try (RpmaConn victim = request.connect()) {
                        if (isLast) {
                            RdmaPair.awaitEvent(last, RdmaEventType.ESTABLISHED);
                            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, victim);
                        } else {
                            assertThat(victim.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS))
                                    .isPresent();
                        }
                    }
                } catch (RpmaException e) {
                    assertThat(e).hasMessageContaining("the client may have given up");
                }
            }
        }
        assertTheGoodConnectionWorks();
    }

    @Tag("many-connections")
    @Test
    void clientsThatDisconnectAtOnce() throws InterruptedException {
        List<Hostile> storm = new ArrayList<>();
        try {
            for (int i = 0; i < STORM; i++) {
                storm.add(connect(new RdmaConnParam()));
            }
            for (Hostile hostile : storm) {
                hostile.id.disconnect();
            }
            assertTheGoodConnectionWorks();
            for (Hostile hostile : storm) {
                Pair.assertEvent(RpmaConnEvent.CLOSED, hostile.victim);
            }
        } finally {
            storm.forEach(Hostile::close);
        }
    }
}
