// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Blocked;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A slow call of the kernel delays no other thread: each test continues while a call is blocked. */
@Tag("stand-in")
class SlowKernelTest {
    private static final String DESTROY = "ucma:DESTROY_ID";

    private final StandIn standIn = StandIn.open();
    private RpmaPeer peer;
    private String before;

    @BeforeEach
    void open() {
        peer = TestDevice.peer();
        before = StandIn.alive();
    }

    @AfterEach
    void nothingIsLeft() {
        standIn.close();
        assertEquals(before, StandIn.alive());
        peer.close();
    }

    @Test
    void anIdThatIsBeingDestroyedIsClosedForOthers() throws Exception {
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        standIn.hold(DESTROY, 1);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(id::close);
        standIn.awaitHeld(1);

        assertClosed(() -> id.nextEvent(500, TimeUnit.MILLISECONDS));
        assertClosed(id::localAddr);
        assertClosed(() -> id.resolveRoute(1));
        assertThat(closing).isNotDone();
        standIn.letGo();
        closing.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** Otherwise a device could write to the memory of a region whose close has returned. */
    @Test
    void aSecondCloseReturnsWhenTheObjectIsClosed() throws Exception {
        RpmaMemory memory = RpmaMemory.allocate(4096);
        RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_DST);
        standIn.hold("ibv_dereg_mr", 1);
        CompletableFuture<Void> first = CompletableFuture.runAsync(region::close);
        standIn.awaitHeld(1);
        List<Thread> others =
                List.of(new Thread(() -> RpmaObjects.closeAll(List.of(region, memory))), new Thread(region::close));
        others.forEach(Thread::start);
        for (Thread other : others) {
            Eventually.become(
                    "the close waits or has ended", () -> other.getState() == Thread.State.WAITING || !other.isAlive());
            assertThat(other.isAlive()).isTrue();
        }
        standIn.letGo();
        first.get(Limit.WAIT_S, TimeUnit.SECONDS);
        for (Thread other : others) {
            other.join(Limit.WAIT.toMillis());
        }
        assertThatThrownBy(memory::buffer).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anEndpointThatIsBeingShutDownIsClosedForOthers() throws Exception {
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
        standIn.hold(DESTROY, 1);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(ep::close);
        standIn.awaitHeld(1);

        assertClosed(() -> ep.nextConnReq(null, 500, TimeUnit.MILLISECONDS));
        assertThat(closing).isNotDone();
        standIn.letGo();
        closing.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** A loop would get no event of the id, whose events have moved to another channel. */
    @Test
    void anIdThatBeginsToListenIsNotServedForItsEvents() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create();
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.bindAddr(RdmaPair.address(TestDevice.port()));
            standIn.hold("ucma:LISTEN", 1);
            CompletableFuture<Void> listening = CompletableFuture.runAsync(() -> id.listen(0));
            standIn.awaitHeld(1);
            FutureTask<RpmaEventLoop.Registration> registration = new FutureTask<>(() -> id.onEvent(loop, event -> {}));
            Thread registering = new Thread(registration);
            registering.start();
            // waits for the end of listen()
            Eventually.become(
                    "the thread waits or has ended",
                    () -> registering.getState() == Thread.State.WAITING || !registering.isAlive());
            standIn.letGo();
            listening.get(Limit.WAIT_S, TimeUnit.SECONDS);
            assertThatThrownBy(() -> registration.get(Limit.WAIT_S, TimeUnit.SECONDS))
                    .hasCauseExactlyInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(name(id) + " listens");
        }
    }

    /** The acceptance holds the lock of the endpoint's events. */
    @Test
    void anAcceptanceInAnotherThreadDelaysNothingElseInALoop() throws Exception {
        int port = TestDevice.port();
        List<RpmaConn> conns = new CopyOnWriteArrayList<>();
        try (RunningLoop running = new RunningLoop();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            standIn.hold("ucma:ACCEPT", 1);
            running.loop.onRequest(ep, null, request -> new Thread(() -> conns.add(request.connect())).start());
            conns.add(RpmaConnReq.create(peer, TestDevice.address(), port, null).connect());
            standIn.awaitHeld(1);
            conns.add(RpmaConnReq.create(peer, TestDevice.address(), port, null).connect());
            CountDownLatch turns = new CountDownLatch(20);
            running.loop.schedule(
                    new Runnable() {
                        @Override
                        public void run() {
                            turns.countDown();
                            running.loop.schedule(this, 1, TimeUnit.MILLISECONDS);
                        }
                    },
                    0,
                    TimeUnit.MILLISECONDS);
            assertThat(turns.await(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
            assertThat(conns).hasSize(2);
            standIn.letGo();
            Eventually.become("both requests are accepted", () -> conns.size() == 4);
        }
        conns.forEach(RpmaConn::close);
    }

    /** Another call of the same id. */
    @Test
    void aWaitForAnEventKeepsItsLimitAndEndsByAnInterruption() throws Exception {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, RdmaPair.address(port), 1000);
            standIn.hold("ucma:SET_OPTION", 1);
            CompletableFuture<Void> slow = CompletableFuture.runAsync(() -> client.setTos(8));
            standIn.awaitHeld(1);
            assertThat(client.nextEvent(50, TimeUnit.MILLISECONDS)).isEmpty();
            Blocked waiter = new Blocked(() -> client.nextEvent());
            waiter.interrupt();
            assertThat(waiter.failure()).isInstanceOf(InterruptedException.class);
            assertThat(slow).isNotDone();
            standIn.letGo();
            slow.get(Limit.WAIT_S, TimeUnit.SECONDS);
            RdmaPair.awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            assertThat(listener.getRequest(0, TimeUnit.SECONDS)).isEmpty();
        }
    }

    /** The rejection holds the lock of the endpoint's events. */
    @Test
    void aRejectionDelaysNoWaitBeyondItsTimeout() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn first = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect()) {
            RpmaConnReq rejected =
                    ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
            standIn.hold("ucma:REJECT", 1);
            CompletableFuture<Void> rejecting = CompletableFuture.runAsync(rejected::close);
            standIn.awaitHeld(1);
            try (RpmaConn second =
                    RpmaConnReq.create(peer, TestDevice.address(), port, null).connect()) {
                assertThat(ep.nextConnReq(null, 100, TimeUnit.MILLISECONDS)).isEmpty();
                assertIsInterrupted(() -> ep.nextConnReq(null));
                assertThat(rejecting).isNotDone();
                standIn.letGo();
                rejecting.get(Limit.WAIT_S, TimeUnit.SECONDS);
                Pair.assertEvent(RpmaConnEvent.REJECTED, first);
                ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow()
                        .close();
                Pair.assertEvent(RpmaConnEvent.REJECTED, second);
            }
        }
    }

    /** Registers a part of a memory. */
    @FunctionalInterface
    private interface Registration {
        AutoCloseable register(RpmaMemory memory, long offset, long length);
    }

    @Test
    void aRegistrationHoldsUpNoOther() throws Exception {
        holdsUpNoOther((memory, offset, length) -> peer.register(memory, offset, length, Regions.ALL));
    }

    @Test
    void aRegistrationWithAnIdHoldsUpNoOther() throws Exception {
        try (RdmaId id = boundId()) {
            holdsUpNoOther((memory, offset, length) -> RdmaMr.reg(id, memory, offset, length, RdmaAccess.values()));
        }
    }

    private void holdsUpNoOther(Registration registration) throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMemory other = RpmaMemory.allocate(4096)) {
            standIn.hold("ibv_reg_mr", 1);
            CompletableFuture<AutoCloseable> slow =
                    CompletableFuture.supplyAsync(() -> registration.register(memory, 0, 4096));
            standIn.awaitHeld(1);

            registration.register(other, 0, 4096).close();
            RpmaSrq.create(peer, null).close();
            assertThat(slow).isNotDone();
            standIn.letGo();
            slow.get(Limit.WAIT_S, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void threadsRegisterThePartsOfAMemoryAtOnce() throws Exception {
        registerParts((memory, offset, length) -> peer.register(memory, offset, length, Regions.ALL));
    }

    @Test
    void threadsRegisterThePartsOfAMemoryWithAnIdAtOnce() throws Exception {
        try (RdmaId id = boundId()) {
            registerParts((memory, offset, length) -> RdmaMr.reg(id, memory, offset, length, RdmaAccess.values()));
        }
    }

    /** Registers each part in a thread of its own, and continues when all registrations are in the kernel. */
    private void registerParts(Registration registration) throws Exception {
        int parts = 4;
        long length = 4096;
        standIn.hold("ibv_reg_mr", parts);
        try (RpmaMemory memory = RpmaMemory.allocate(parts * length)) {
            Together.run(parts + 1, thread -> {
                if (thread < parts) {
                    registration.register(memory, thread * length, length).close();
                } else {
                    awaitHeldAndLetGo(parts);
                }
            });
        }
    }

    private void awaitHeldAndLetGo(int calls) {
        try {
            standIn.awaitHeld(calls);
        } finally {
            standIn.letGo();
        }
    }

    @Test
    void manyThreadsRegisterAtOnce() throws Exception {
        Together.run(8, thread -> registerOften());
    }

    private void registerOften() {
        for (int i = 0; i < 200; i++) {
            try (RpmaMemory memory = RpmaMemory.allocate(4096);
                    RpmaMrLocal region = peer.register(memory, Regions.ALL);
                    RpmaSrq srq = RpmaSrq.create(peer, null)) {
                assertEquals(4096, region.getSize());
                assertThat(srq.recv(region, 0, 64, i)).isTrue();
            }
        }
    }

    @Test
    void manyThreadsRegisterWithAnIdAtOnce() throws Exception {
        try (RdmaId id = boundId()) {
            Together.run(8, thread -> registerOften(id));
        }
    }

    private static void registerOften(RdmaId id) {
        for (int i = 0; i < 200; i++) {
            try (RpmaMemory memory = RpmaMemory.allocate(4096);
                    RdmaMr region = RdmaMr.regMsgs(id, memory)) {
                assertEquals(4096, region.size());
            }
        }
    }

    /** An id that is bound to the device. */
    private static RdmaId boundId() {
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        id.bindAddr(RdmaPair.address(0));
        return id;
    }

    /** Interrupts the call while it waits for the lock. */
    private static void assertIsInterrupted(ThrowingCallable call) throws Exception {
        FutureTask<Void> waiting = new FutureTask<>(() -> {
            assertThatThrownBy(call).isInstanceOf(InterruptedException.class);
            return null;
        });
        Thread waiter = new Thread(waiting, "waiter");
        waiter.start();
        Eventually.become("the thread waits for the lock", () -> LockSupport.getBlocker(waiter) != null);
        waiter.interrupt();
        waiting.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    private static void assertClosed(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
    }
}
