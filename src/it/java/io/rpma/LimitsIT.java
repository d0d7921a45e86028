// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.ProcessLimitsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Limits that librpma's manual leaves to the kernel and the device. */
class LimitsIT extends WithPeer {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int ALL_USAGES = 0xff;
    private static final int USAGE = 20;

    @Test
    void aTimeoutOfZeroResolvesNothing() {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(0)) {
            RpmaException failure =
                    assertThrows(RpmaException.class, () -> RpmaConnReq.create(peer, address, port, cfg));
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertTrue(failure.getMessage().contains("setTimeout"), failure.getMessage());
            cfg.setTimeout(1000);
            RpmaConnReq.create(peer, address, port, cfg).close();
        }
    }

    @Tag("infiniband-cm")
    @Test
    void privateDataIsThereAlsoWhenNothingWasSent() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            assertArrayEquals(new byte[56], pair.server.getPrivateData());
            assertArrayEquals(new byte[196], pair.client.getPrivateData());
        }
    }

    @Tag("infiniband-cm")
    @Test
    void anAnswerWithTooMuchPrivateDataIsRefused() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            RpmaConnReq request =
                    ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
            for (int length : new int[] {197, 255}) {
                IllegalArgumentException failure =
                        assertThrows(IllegalArgumentException.class, () -> request.connect(new byte[length]));
                assertEquals(
                        "rpma_conn_req_connect takes at most 196 bytes of private data here, not " + length,
                        failure.getMessage());
            }
            try (RpmaConn server = request.connect(new byte[196])) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            }
        }
    }

    @Tag("infiniband-cm")
    @Test
    void aPostBeforeTheConnectionIsEstablished() {
        try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            RpmaException failure = assertThrows(RpmaException.class, () -> client.write(ALWAYS, 1));
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertTrue(failure.detail().contains("ibv_post_send"), failure.detail());
            assertTrue(
                    failure.getMessage().endsWith("post after nextEvent() has returned ESTABLISHED"),
                    failure.getMessage());
        }
    }

    /**
     * Returns the status of an operation on a region whose descriptor claims all usages, whatever it is registered for.
     */
    private RpmaWcStatus statusOf(Post post, RpmaMrUsage... usages) throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null);
                Regions regions = new Regions(peer, 64);
                RpmaMrLocal target = peer.register(regions.remoteMemory, usages)) {
            byte[] descriptor = target.getDescriptor();
            descriptor[USAGE] = (byte) ALL_USAGES;
            try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(descriptor)) {
                Pair.assertPosted(post.post(pair.client, regions.local, remote));
                RpmaCompletions completions = RpmaCompletions.create(1);
                assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
                return completions.status(0);
            }
        }
    }

    private interface Post {
        boolean post(RpmaConn conn, RpmaMrLocal local, RpmaMrRemote remote);
    }

    private static boolean flush(RpmaConn conn, RpmaMrRemote remote) {
        return conn.flush(remote, 0, 64, RpmaFlushType.VISIBILITY, ALWAYS, 1);
    }

    private boolean flushesNatively() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null);
                Regions regions = new Regions(peer, 64)) {
            Pair.assertPosted(flush(pair.client, regions.remote));
            return Pair.assertDone(pair.client.getCq(), 1).opcode(0) == RpmaWcOpcode.FLUSH;
        }
    }

    /**
     * With native flushes, soft-RoCE checks that memory is persistent; when librpma emulates them, nothing checks it.
     */
    @Test
    void aPersistentFlushToMemoryThatIsNot() throws InterruptedException {
        boolean refused = flushesNatively() && TestDevice.isSoft();
        try (RpmaMemory memory = RpmaMemory.allocate(USAGE)) {
            if (!refused) {
                peer.register(memory, RpmaMrUsage.FLUSH_TYPE_PERSISTENT).close();
                return;
            }
            RpmaException failure =
                    assertThrows(RpmaException.class, () -> peer.register(memory, RpmaMrUsage.FLUSH_TYPE_PERSISTENT));
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertTrue(failure.getMessage().contains("soft-RoCE refuses a persistent flush"), failure.getMessage());
        }
    }

    /**
     * The capability IPC_LOCK exempts root from the limit of locked memory, so the other process runs without it. The
     * process connects dozens of times and collects garbage after each, which takes minutes under emulation.
     */
    @Tag("many-connections")
    @Test
    @Tag("unsanitized")
    void theLimitsOfTheProcess() throws InterruptedException {
        Jvm jvm = Jvm.likeThis().options(TestDevice.portsOption(100));
        if (System.getProperty("user.name").equals("root")) {
            jvm.under("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock");
        }
        Jvm.Finished finished = jvm.run(ProcessLimitsProgram.class);
        assertEquals(0, finished.status(), finished.toString());
    }

    @Test
    void theSizesOfTheDevice() {
        String device = " of the device " + peer.device().name() + " (max_";
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setCqSize(Integer.MAX_VALUE)) {
            assertNames(device + "cq=", "max_cqe=", () -> RpmaConnReq.create(peer, address, port, cfg));
        }
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(Integer.MAX_VALUE)) {
            assertNames(device + "qp=", "max_qp_wr=", () -> RpmaConnReq.create(peer, address, port, cfg));
        }
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRqSize(Integer.MAX_VALUE)) {
            assertNames(device + "qp=", "max_qp_wr=", () -> RpmaConnReq.create(peer, address, port, cfg));
        }
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create().setRqSize(Integer.MAX_VALUE)) {
            assertNames(device + "srq=", "max_srq_wr=", () -> RpmaSrq.create(peer, cfg));
        }
    }

    private static void assertNames(String first, String second, Executable call) {
        RpmaException failure = assertThrows(RpmaException.class, call);
        assertEquals(RpmaError.PROVIDER, failure.error());
        String message = failure.getMessage();
        assertTrue(message.contains(first), message);
        assertTrue(message.contains(second), message);
        assertTrue(message.contains("rdma resource show"), message);
    }

    @Test
    void aDeviceThroughWhichNobodyIsReached() {
        RpmaException failure = assertThrows(RpmaException.class, () -> RpmaDevice.remote(TestDevice.silentAddress()));
        assertEquals(RpmaError.PROVIDER, failure.error());
        assertTrue(failure.getMessage().contains("timed out"), failure.getMessage());
        assertEquals(RpmaDevice.local(address), RpmaDevice.remote(address));
    }

    @Test
    void pagingOnDemand() throws Exception {
        RpmaDevice device = RpmaDevice.local(address);
        String capabilities = Tool.run("ibv_devinfo", "-v", "-d", device.name());
        String connected =
                capabilities.substring(capabilities.indexOf("rc_odp_caps:"), capabilities.indexOf("uc_odp_caps:"));
        assertEquals(
                connected.contains("SUPPORT_WRITE") && connected.contains("SUPPORT_READ"),
                device.isOdpCapable(),
                capabilities);
    }

    /**
     * An emulated flush is a read of 8 bytes: where flushes are native, the target must be registered for reads too.
     */
    @Test
    void anEmulatedFlushOfATargetThatFlushesNatively() throws InterruptedException {
        Post read = (conn, local, remote) -> conn.read(local, 0, remote, 0, 8, ALWAYS, 1);
        assertEquals(
                flushesNatively() ? RpmaWcStatus.REM_ACCESS_ERR : RpmaWcStatus.SUCCESS,
                statusOf(read, RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY));
        assertEquals(
                RpmaWcStatus.SUCCESS,
                statusOf(read, RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY, RpmaMrUsage.READ_SRC));
    }

    /** Where flushes are emulated, a region for flushes is registered for reads, and a native flush has no access. */
    @Test
    void aNativeFlushOfATargetThatEmulatesIt() throws InterruptedException {
        assertEquals(
                flushesNatively() ? RpmaWcStatus.REM_ACCESS_ERR : RpmaWcStatus.SUCCESS,
                statusOf((conn, local, remote) -> flush(conn, remote), RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC));
    }
}
