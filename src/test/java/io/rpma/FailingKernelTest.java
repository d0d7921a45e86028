// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rpma.internal.Errno;
import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Failures of the kernel, of librdmacm and of librpma: the exception names the call that failed, and nothing is lost.
 */
@Tag("stand-in")
class FailingKernelTest {
    private static final int EPERM = 1;
    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final int EINVAL = 22;
    private static final int CONNECT_ERROR = 6;
    private static final int UNREACHABLE = 7;
    private static final int DEVICE_REMOVAL = 11;
    /** More than librdmacm and the hint need. */
    private static final int MOST_OPENS = 5;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final StandIn standIn = StandIn.open();

    /** Whether this test leaks: librpma leaks, or the failing call would have freed an object. */
    private boolean leaks;

    private RpmaPeer peer;
    private String alive;
    private int port;
    private RpmaEp ep;

    @BeforeEach
    void open() {
        peer = TestDevice.peer();
        port = TestDevice.port();
        // librdmacm keeps a protection domain from the first id on, because RpmaDevice pins the device
        RpmaEp.listen(peer, TestDevice.address(), port).close();
        alive = alive();
        ep = RpmaEp.listen(peer, TestDevice.address(), port);
    }

    @AfterEach
    void close() {
        standIn.close();
        ep.close();
        String left = alive();
        peer.close();
        if (!leaks) {
            assertEquals(alive, left);
        }
    }

    /** The objects of the device without the events, which also arrive for the ids that earlier tests have leaked. */
    private static String alive() {
        return StandIn.alive().replaceAll(", \\d+ CM event", "");
    }

    private RpmaConn connect() {
        return RpmaConnReq.create(peer, TestDevice.address(), port, null).connect();
    }

    @Test
    void anEventThatIsTakenAndNotAcknowledgedIsNoMissingOne() throws InterruptedException {
        try (RpmaConn client = connect();
                RpmaConn server = ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow()
                        .connect()) {
            standIn.fail("rdma_ack_cm_event", 1, EAGAIN);
            assertThatThrownBy(() -> client.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS))
                    .isInstanceOf(RpmaException.class)
                    .hasMessageContaining("rdma_ack_cm_event");
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
        }
    }

    private RpmaConnReq incoming() throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    private void assertThatAClientIsAccepted() throws InterruptedException {
        try (RpmaConn client = connect();
                RpmaConn server = incoming().connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
        }
    }

    @Test
    void aDescriptorThatCanNotBeMadeNonblockingIsNamed() {
        String message = "fcntl() failed: Operation not permitted";
        int other = TestDevice.port();
        standIn.fail("fcntl", 1, EPERM);
        assertThatThrownBy(() -> RpmaEp.listen(peer, TestDevice.address(), other))
                .isInstanceOf(RpmaException.class)
                .hasMessageContaining(message);
        // the events of the connection, and its completion queue
        for (int earlier = 0; earlier < 2; earlier++) {
            OpenResources before = OpenResources.now();
            RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), port, null);
            if (earlier > 0) {
                standIn.pass("fcntl", earlier);
            }
            standIn.fail("fcntl", 1, EPERM);
            assertThatThrownBy(request::connect)
                    .isInstanceOf(RpmaException.class)
                    .hasMessageContaining(message);
            before.assertSameNow(0);
        }
    }

    @Test
    void aClientThatGivesUpIsNoRequest() throws Exception {
        StandIn.notifyListeners(CONNECT_ERROR);
        StandIn.notifyListeners(UNREACHABLE);
        assertThat(ep.nextConnReq(null, 0, TimeUnit.SECONDS)).isEmpty();
        assertThatAClientIsAccepted();
    }

    @Test
    void theRemovalOfTheDeviceIsAFailure() {
        StandIn.notifyListeners(DEVICE_REMOVAL);
        assertThatThrownBy(() -> ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS))
                .isInstanceOf(RpmaException.class)
                .hasMessageContaining("RDMA_CM_EVENT_DEVICE_REMOVAL");
    }

    @Test
    void aRequestThatCanNotBeAcceptedIsRejected() throws Exception {
        assertThatAClientIsAccepted();
        try (RpmaConn client = connect()) {
            RpmaConnReq request = incoming();
            standIn.fail("ibv_reg_mr", 1, ENOMEM);
            assertThatThrownBy(request::connect)
                    .isInstanceOf(RpmaException.class)
                    .hasMessageContaining("ibv_reg_mr")
                    .hasMessageContaining("limit of locked memory");
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
        assertThatAClientIsAccepted();
    }

    @Test
    void anAcceptanceThatTheKernelRefusesIsAFailure() throws Exception {
        try (RpmaConn client = connect()) {
            RpmaConnReq request = incoming();
            standIn.fail("ucma:ACCEPT", 1, EINVAL);
            assertThatThrownBy(request::connect)
                    .isInstanceOf(RpmaException.class)
                    .hasMessageContaining("rdma_accept() failed");
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
        assertThatAClientIsAccepted();
    }

    @Test
    void privateDataThatCanNotBeReadIsAFailure() throws Exception {
        try (RpmaConn client = connect();
                RpmaConn server = incoming().connect(new byte[] {42})) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            standIn.fail("rpma_conn_get_private_data", 1, EINVAL);
            RpmaException failure = assertThrows(RpmaException.class, client::getPrivateData);
            assertThat(failure.error()).isEqualTo(RpmaError.INVAL);
            assertThat(failure).hasMessageContaining("rpma_conn_get_private_data");
            assertThat(client.getPrivateData()).startsWith(42);
        }
    }

    @Test
    void aQueueThatCanNotBePolledIsAFailure() throws Exception {
        try (RpmaConn client = connect()) {
            RpmaCompletions completions = RpmaCompletions.create(1);
            standIn.fail("ibv_poll_cq", 1, EINVAL);
            assertThatThrownBy(() -> client.getCq().poll(completions))
                    .isInstanceOf(RpmaException.class)
                    .hasMessageContaining("ibv_poll_cq");
            assertEquals(0, client.getCq().poll(completions));
            incoming().close();
        }
    }

    @Test
    void aProtectionDomainThatIsNotFreedIsAFailure() {
        RpmaPeer other = TestDevice.peer();
        leaks = true;
        standIn.fail("ibv_dealloc_pd", 1, EINVAL);
        assertThatThrownBy(other::close).isInstanceOf(RpmaException.class).hasMessageContaining("ibv_dealloc_pd");
    }

    @Test
    void anObjectThatIsNotReturnedIsAFailure() {
        standIn.fail("rpma_conn_cfg_new", 1, EINVAL);
        RpmaException failure = assertThrows(RpmaException.class, RpmaConnCfg::create);
        assertThat(failure.error()).isEqualTo(RpmaError.UNKNOWN);
        RpmaConnCfg.create().close();
    }

    /**
     * After a registration with on-demand paging, the shim asks whether the device is soft-RoCE. The stand-in is not.
     */
    @Test
    void aRegionWithOnDemandPagingIsGivenBackIfTheDeviceIsUnknown() {
        int handles = Natives.handleCount();
        try (RpmaMemory memory = RpmaMemory.allocate(4096)) {
            standIn.fail("rpma_mr_reg", 2, Errno.EOPNOTSUPP).fail("ibv_query_device", 1, EPERM);
            String before = StandIn.alive();
            RpmaException failure = assertThrows(RpmaException.class, () -> peer.register(memory, Regions.ALL));
            assertEquals("rpma_mr_reg", failure.operation());
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertThat(failure).hasMessageContaining("ibv_query_device_ex() failed: Operation not permitted");
            assertEquals(before, StandIn.alive());
            assertEquals(handles, Natives.handleCount());
            peer.register(memory, Regions.ALL).close();
            assertEquals(before, StandIn.alive());
        }
    }

    /** librdmacm reports any reason as ENOMEM if it opens the file for an id without a channel of its own. */
    @ParameterizedTest
    @ValueSource(ints = {EPERM, Errno.ENOENT, Errno.EACCES, Errno.EMFILE})
    void theFileOfTheConnectionManagerIsNamedIfItCanNotBeOpened(int errno) {
        try (RdmaAddrInfo info = RdmaAddrInfo.passive(TestDevice.address(), TestDevice.port(), RdmaPortSpace.TCP)) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> RpmaDevice.local(TestDevice.address()),
                    () -> RpmaEp.listen(peer, TestDevice.address(), TestDevice.port()),
                    this::connect,
                    () -> RdmaId.create(RdmaPortSpace.TCP),
                    () -> RdmaId.createEp(info, null))) {
                standIn.fail("open", MOST_OPENS, errno);
                assertThatThrownBy(call)
                        .isInstanceOf(RpmaException.class)
                        .hasMessageContaining(
                                errno == Errno.EMFILE
                                        ? "ulimit -n (RLIMIT_NOFILE="
                                        : "; /dev/infiniband/rdma_cm can't be opened: " + Errno.message(errno)
                                                + "; load the module rdma_ucm");
                standIn.letGo();
            }
        }
    }

    /** The file can be opened again when the hint is made. */
    @Test
    void theLimitOfDescriptorsIsNamedIfThereIsNoMemoryForAChannel() {
        standIn.fail("open", 1, ENOMEM);
        assertThatThrownBy(() -> RpmaDevice.local(TestDevice.address()))
                .hasMessageContaining("ulimit -v (RLIMIT_AS=")
                .hasMessageContaining("ulimit -n (RLIMIT_NOFILE=");
        standIn.fail("open", 1, ENOMEM);
        assertThatThrownBy(() -> RdmaId.create(RdmaPortSpace.TCP))
                .hasMessageContaining("ulimit -v (RLIMIT_AS=")
                .hasMessageNotContaining("ulimit -n");
    }

    /** The request stays in the queue, so the descriptor stays readable. */
    @Test
    void aLoopTriesARequestThatCanNotBeTakenOnceASecond() throws Exception {
        BlockingQueue<Long> failures = new LinkedBlockingQueue<>();
        BlockingQueue<RpmaConn> accepted = new LinkedBlockingQueue<>();
        try (RunningLoop running = new RunningLoop();
                RpmaConn client = connect()) {
            RpmaEventLoop loop = running.loop;
            loop.onFailure((source, failure) -> failures.add(System.nanoTime()));
            standIn.fail("ucma:GET_EVENT", 3, ENOMEM);
            loop.onRequest(ep, null, request -> accepted.add(request.connect()));
            try (RpmaConn server = accepted.poll(Limit.WAIT_S, TimeUnit.SECONDS)) {
                assertThat(server).isNotNull();
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            }
        }
        assertEquals(3, failures.size());
        long first = failures.take();
        long second = failures.take();
        assertThat(second - first).isGreaterThanOrEqualTo(SECOND / 2);
        assertThat(failures.take() - second).isGreaterThanOrEqualTo(SECOND / 2);
    }
}
