// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Limit.WAIT_S;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Descriptors;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.io.FileInputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that a loop can't take. */
@Tag("stand-in")
class RdmaEventLoopTest {
    private static final int ENOMEM = 12;

    /** {@code RDMA_CM_EVENT_DEVICE_REMOVAL}. */
    private static final int DEVICE_REMOVAL = 11;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int MANY = 40;
    private static final int REJECTED = 8;

    private final StandIn standIn = StandIn.open();
    private final int port = TestDevice.port();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<Long> times = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        standIn.close();
    }

    private RunningLoop running() {
        RunningLoop running = new RunningLoop();
        running.loop.onFailure((source, failure) -> {
            failures.add(failure);
            times.add(System.nanoTime());
        });
        return running;
    }

    /** The request stays in the queue, so the descriptor stays readable. */
    @Test
    void aRequestThatStaysInTheQueueIsTriedOnceASecond() throws Exception {
        try (RunningLoop running = running();
                RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.connecting(port)) {
            standIn.fail("ucma:GET_EVENT", 2, ENOMEM);
            listener.onRequest(running.loop, RdmaId::close);
            RdmaPair.awaitEvent(client, RdmaEventType.REJECTED);
        }
        assertThat(failures)
                .hasSize(2)
                .allSatisfy(e -> assertThat(e)
                        .hasMessageStartingWith("rdma_get_request failed")
                        .hasMessageContaining("ENOMEM"));
        long first = times.take();
        assertThat(times.take() - first).isGreaterThanOrEqualTo(SECOND / 2);
    }

    /** Another event has left the queue: the loop serves the next request without a pause. */
    @Test
    void anEventThatIsNoRequestDelaysNoRequest() throws Exception {
        try (RunningLoop running = running();
                RdmaId listener = RdmaPair.listen(port)) {
            listener.onRequest(running.loop, RdmaId::close);
            for (int i = 0; i < MANY; i++) {
                StandIn.notifyListeners(DEVICE_REMOVAL);
                assertThat(failures.poll(WAIT_S, TimeUnit.SECONDS))
                        .hasMessageContaining("DEVICE_REMOVAL came instead of CONNECT_REQUEST");
            }
            try (RdmaId client = RdmaPair.connecting(port)) {
                RdmaPair.awaitEvent(client, RdmaEventType.REJECTED);
            }
        }
        long first = times.take();
        for (int i = 1; i < MANY - 1; i++) {
            times.take();
        }
        assertThat(times.take() - first).isLessThan(MANY * SECOND / 2);
    }

    /** librdmacm takes the request, fails to move its id to a channel, and rejects it. */
    @Test
    void aRequestThatLibrdmacmRejectsDelaysNoRequest() throws Exception {
        try (RunningLoop running = running();
                RdmaId listener = RdmaPair.listen(port)) {
            listener.onRequest(running.loop, RdmaId::close);
            for (int i = 0; i < REJECTED; i++) {
                standIn.fail("ucma:MIGRATE_ID", 1, ENOMEM);
                try (RdmaId client = RdmaPair.connecting(port)) {
                    assertThat(failures.poll(WAIT_S, TimeUnit.SECONDS))
                            .hasMessageStartingWith("rdma_get_request failed")
                            .hasMessageContaining("rejected")
                            .hasMessageContaining("RLIMIT_NOFILE=");
                    RdmaPair.awaitEvent(client, RdmaEventType.REJECTED);
                }
            }
        }
        long first = times.take();
        for (int i = 1; i < REJECTED - 1; i++) {
            times.take();
        }
        assertThat(times.take() - first).isLessThan(REJECTED * SECOND / 2);
    }

    /** After a request, the loop looks for another. librdmacm could take and reject a request that comes meanwhile. */
    @Test
    void librdmacmIsCalledOnlyForARequest() throws Exception {
        CountDownLatch handled = new CountDownLatch(1);
        try (RunningLoop running = running();
                RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.prepared(port)) {
            listener.onRequest(running.loop, id -> {
                id.close();
                handled.countDown();
            });
            standIn.pass("ucma:GET_EVENT", 1).fail("ucma:GET_EVENT", 1, ENOMEM);
            client.connect(new RdmaConnParam());
            assertThat(handled.await(WAIT_S, TimeUnit.SECONDS)).isTrue();
            // the loop serves each registration once between two tasks
            running.call(() -> {});
            running.call(() -> {});
        }
        assertThat(failures).isEmpty();
    }

    /** The handler takes the last descriptors. The loop then looks for another request, and finds none. */
    @Test
    void aLackOfDescriptorsIsNoRequest() throws Exception {
        Deque<FileInputStream> files = new ArrayDeque<>();
        CountDownLatch handled = new CountDownLatch(1);
        try (RunningLoop running = running();
                RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.prepared(port)) {
            listener.onRequest(running.loop, id -> {
                id.close();
                files.addAll(Descriptors.takeAll());
                handled.countDown();
            });
            client.connect(new RdmaConnParam());
            try {
                assertThat(handled.await(WAIT_S, TimeUnit.SECONDS)).isTrue();
                // the loop serves each registration once between two tasks
                running.call(() -> {});
                running.call(() -> {});
            } finally {
                for (FileInputStream file : files) {
                    file.close();
                }
            }
        }
        assertThat(failures).isEmpty();
    }
}
