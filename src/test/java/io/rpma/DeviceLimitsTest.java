// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rpma.internal.Errno;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.RpmaSession;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The device has no room for another object: an exception that names the limit, and the next object when there is room
 * again.
 */
@Tag("stand-in")
class DeviceLimitsTest {
    private static final int ROOM = 3;
    private static final long GIB = 1 << 30;

    private final RpmaPeer peer = TestDevice.peer();
    private final RpmaMemory memory = RpmaMemory.allocate(4096);
    private final int port = TestDevice.port();
    private final RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
    private final RdmaId listener = RdmaPair.listen(0);
    private final int listenerPort = listener.localAddr().orElseThrow().getPort();
    private RdmaId id;
    private String limit;

    private interface Creation {
        AutoCloseable in(DeviceLimitsTest test) throws Exception;
    }

    @BeforeEach
    void resolve() throws InterruptedException {
        id = RdmaPair.resolved(listenerPort);
    }

    @AfterEach
    void close() {
        if (limit != null) {
            StandIn.setLimit(limit, 0);
        }
        id.close();
        listener.close();
        ep.close();
        memory.close();
        peer.close();
    }

    static Stream<Arguments> creations() {
        return Stream.of(
                creation("max_pd", "protection domain", test -> TestDevice.peer()),
                creation("max_mr", "memory region", test -> test.peer.register(test.memory, Regions.ALL)),
                creation("max_cq", "completion queue", DeviceLimitsTest::request),
                creation("max_qp", "queue pair", DeviceLimitsTest::request),
                creation("max_srq", "shared receive queue", test -> RpmaSrq.create(test.peer, null)),
                creation("max_mr", "memory region", test -> RdmaMr.reg(test.id, test.memory, RdmaAccess.values())),
                creation("max_qp", "queue pair", DeviceLimitsTest::prepared),
                creation("max_cq", "completion queue", DeviceLimitsTest::prepared),
                creation("max_srq", "shared receive queue", DeviceLimitsTest::shared));
    }

    private static Arguments creation(String limit, String kind, Creation creation) {
        return Arguments.of(limit, kind, creation);
    }

    private RpmaConnReq request() {
        return RpmaConnReq.create(peer, TestDevice.address(), port, null);
    }

    private RdmaId prepared() throws InterruptedException {
        return make(resolved -> resolved.createQp(RdmaPair.attr()));
    }

    private RdmaId shared() throws InterruptedException {
        return make(resolved -> resolved.createSrq(1, 1));
    }

    private RdmaId make(Consumer<RdmaId> creation) throws InterruptedException {
        RdmaId made = RdmaPair.resolved(listenerPort);
        try {
            creation.accept(made);
            return made;
        } catch (RpmaException e) {
            made.close();
            throw e;
        }
    }

    /** Returns the number of live objects of the device. */
    private static int alive(String kind) {
        return Stream.of(StandIn.alive().split(", "))
                .filter(count -> count.endsWith(" " + kind))
                .mapToInt(count -> Integer.parseInt(count.split(" ")[0]))
                .sum();
    }

    private int setRoom(String of, String kind) {
        limit = of;
        int most = alive(kind) + ROOM;
        StandIn.setLimit(limit, most);
        return most;
    }

    @ParameterizedTest
    @MethodSource("creations")
    void theExceptionNamesTheLimit(String of, String kind, Creation creation) throws Exception {
        int most = setRoom(of, kind);
        OpenResources before = OpenResources.now();
        String objects = StandIn.alive();
        for (int round = 0; round < 2; round++) {
            Deque<AutoCloseable> opened = new ArrayDeque<>();
            RpmaException failure = assertThrows(RpmaException.class, () -> {
                while (true) {
                    opened.push(creation.in(this));
                }
            });
            assertThat(failure.getMessage())
                    .containsPattern("device standin0 \\(.*" + of + "=" + most + "[,)]")
                    .contains("'rdma resource show'");
            assertThat(opened).hasSizeBetween(1, ROOM);
            for (AutoCloseable object : opened) {
                object.close();
            }
            assertThat(StandIn.alive()).isEqualTo(objects);
            before.assertSameNow(1);
        }
        StandIn.setLimit(limit, 0);
        RpmaSession.connect().close();
    }

    /** The kernel refuses an object because of the cgroup, or its memory because the limit of locked memory is 0. */
    @ParameterizedTest
    @MethodSource("creations")
    void theExceptionNamesTheLimitOfTheProcess(String of, String kind, Creation creation) {
        String call = of.equals("max_pd")
                ? "ibv_alloc_pd"
                : of.equals("max_mr") ? "ibv_reg_mr" : of.replace("max", "ibv_create");
        try (StandIn standIn = StandIn.open().fail(call, 1, Errno.EAGAIN)) {
            assertThat(assertThrows(RpmaException.class, () -> creation.in(this)))
                    .hasMessageContaining("a limit of the cgroup, or of one above it, may be reached")
                    .hasMessageContaining("/rdma.max");
            if (!of.equals("max_pd")) {
                standIn.fail(call, 1, Errno.EPERM);
                assertThat(assertThrows(RpmaException.class, () -> creation.in(this)))
                        .hasMessageContaining("ulimit -l (RLIMIT_MEMLOCK=");
            }
        }
    }

    @Test
    void theLimitOfSoftRoceIsNamedForALargeRegionAlone() {
        try (StandIn standIn = StandIn.open();
                RpmaMemory large = RpmaMemory.allocate(GIB + 1)) {
            for (Consumer<Long> registration : List.<Consumer<Long>>of(
                    size -> peer.register(large, 0, size, Regions.ALL),
                    size -> RdmaMr.reg(id, large, 0, size, RdmaAccess.values()))) {
                standIn.fail("ibv_reg_mr", 1, Errno.ENOMEM);
                assertThat(assertThrows(RpmaException.class, () -> registration.accept(GIB)))
                        .hasMessageNotContaining("soft-RoCE");
                standIn.fail("ibv_reg_mr", 1, Errno.ENOMEM);
                assertThat(assertThrows(RpmaException.class, () -> registration.accept(GIB + 1)))
                        .hasMessageContaining("soft-RoCE of Linux 6.12 to 7.3, which registers at most 1 GiB");
            }
        }
    }

    /** The server of a connection reaches the limit. */
    @Test
    void anEndpointRemainsUsable() throws Exception {
        setRoom("max_qp", "queue pair");
        try (RpmaConn first = request().connect();
                RpmaConn accepted = next().connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, first);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, accepted);
            try (RpmaConn second = request().connect()) {
                assertThat(assertThrows(RpmaException.class, this::next).getMessage())
                        .contains("max_qp=", "the endpoint remains usable");
                StandIn.setLimit(limit, 0);
                Pair.assertEvent(RpmaConnEvent.REJECTED, second);
            }
        }
        try (RpmaConn client = request().connect();
                RpmaConn server = next().connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
        }
    }

    private RpmaConnReq next() throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }
}
