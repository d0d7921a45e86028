// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.Name.name;
import static io.rpma.testing.RdmaPair.attr;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.testing.Allocation;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A receive queue for several connections. */
class RdmaSrqIT {
    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    private static RdmaId bound() {
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        id.bindAddr(RdmaPair.address(0));
        return id;
    }

    @Test
    void servesSeveralConnections() throws InterruptedException {
        try (RdmaId owner = bound();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaMr region = RdmaMr.regMsgs(owner, memory)) {
            RdmaSrq srq = owner.createSrq(8, 2);
            assertThat(srq.maxWr()).isGreaterThanOrEqualTo(8);
            assertThat(srq.maxSge()).isGreaterThanOrEqualTo(2);
            try (RdmaPair one = RdmaPair.connect(attr(), attr().srq(srq));
                    RdmaPair two = RdmaPair.connect(attr(), attr().srq(srq))) {
                assertThatIllegalStateException()
                        .isThrownBy(owner::close)
                        .withMessageContaining("queue pair of " + one.server.object())
                        .withMessageContaining("queue pair of " + two.server.object());
                assertThat(srq.postRecv(region, 0, 10, 1)).isTrue();
                one.client.qp().postSendInline(inline("first"), 5, F_SIGNALED, 11);
                sent(one.client.qp(), 11);
                assertThat(received(one.server.qp(), 1).byteLen(0)).isEqualTo(5);
                assertThat(get(memory, 0, 5)).isEqualTo("first");

                RdmaSgeList parts = RdmaSgeList.create(2).add(region, 100, 3).add(region, 200, 10);
                assertThat(srq.postRecvv(parts, 2)).isTrue();
                two.client.qp().postSendInline(inline("second"), 6, F_SIGNALED, 12);
                sent(two.client.qp(), 12);
                received(two.server.qp(), 2);
                assertThat(get(memory, 100, 3)).isEqualTo("sec");
                assertThat(get(memory, 200, 3)).isEqualTo("ond");

                assertThatIllegalStateException()
                        .isThrownBy(() -> one.server.qp().postRecv(one.serverMr, 0, 8, 1))
                        .withMessageContaining("RdmaSrq.postRecv()");
                assertThatIllegalStateException()
                        .isThrownBy(() -> one.server.qp().postRecvv(parts, 1))
                        .withMessage(one.server.qp().object() + " has a shared receive queue: see RdmaSrq.postRecv()");
            }
        }
    }

    @Test
    void servesItsOwnId() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.resolved(port)) {
            client.createQp(attr());
            client.connect(new RdmaConnParam());
            try (RdmaId server = RdmaPair.request(listener);
                    RpmaMemory memory = RpmaMemory.allocate(64)) {
                RdmaSrq srq = server.createSrq(4, 1);
                RdmaQp qp = server.createQp(attr());
                RdmaPair.accept(client, server);
                try (RdmaMr region = RdmaMr.regMsgs(server, memory)) {
                    srq.postRecv(region, 0, 8, 5);
                    client.qp().postSendInline(inline("own"), 3, F_SIGNALED, 6);
                    sent(client.qp(), 6);
                    received(qp, 5);
                    assertThat(get(memory, 0, 3)).isEqualTo("own");
                }
            }
        }
    }

    /** None of the refused receives is posted. */
    @Test
    void refusesWhatNoMessageCanArriveIn() throws InterruptedException {
        try (RdmaId owner = bound();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaMr region = RdmaMr.regMsgs(owner, memory);
                RdmaMr source = RdmaMr.reg(owner, memory)) {
            RdmaSrq srq = owner.createSrq(8, 2);
            long size = region.size();
            for (long[] range :
                    new long[][] {{-1, 1}, {0, size + 1}, {size, 1}, {Long.MAX_VALUE, 1}, {0, -1}, {1, size}}) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> srq.postRecv(region, range[0], range[1], 1))
                        .withMessageStartingWith("bytes " + range[0] + " to " + range[0] + " + " + range[1]);
            }
            long tooLong = 1L << 31;
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> srq.postRecv(region, 0, tooLong, 1))
                    .withMessage(TestDevice.tooLong(tooLong));

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> srq.postRecv(source, 0, 8, 1))
                    .withMessage(source.object() + " is not registered for LOCAL_WRITE");
            RdmaSgeList parts = RdmaSgeList.create(RdmaSgeList.MAX_CAPACITY);
            parts.add(region, 0, 8).add(source, 0, 8);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> srq.postRecvv(parts, 1))
                    .withMessage(source.object() + " is not registered for LOCAL_WRITE");

            parts.clear();
            for (int i = 0; i <= srq.maxSge(); i++) {
                parts.add(region, 8 * i, 8);
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> srq.postRecvv(parts, 1))
                    .withMessage("the list has " + (srq.maxSge() + 1) + " parts, and the queue takes " + srq.maxSge()
                            + " in one operation");

            RdmaMr closed = RdmaMr.regMsgs(owner, memory);
            parts.clear().add(region, 0, 8).add(closed, 0, 8);
            closed.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> srq.postRecv(closed, 0, 8, 1))
                    .withMessage("rdma_post_recv: " + closed.object() + " is closed");
            assertThatIllegalStateException()
                    .isThrownBy(() -> srq.postRecvv(parts, 1))
                    .withMessage("rdma_post_recvv: an object of the call is closed");

            try (RdmaPair pair = RdmaPair.connect(attr(), attr().srq(srq))) {
                srq.postRecv(region, 0, 8, 2);
                pair.client.qp().postSendInline(inline("x"), 1, F_SIGNALED, 3);
                sent(pair.client.qp(), 3);
                received(pair.server.qp(), 2);
            }
        }
    }

    @Test
    void nothingIsAllocatedByAPostOrPoll() throws InterruptedException {
        try (RdmaId owner = bound();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaMr region = RdmaMr.regMsgs(owner, memory)) {
            RdmaSrq srq = owner.createSrq(8, 2);
            RdmaSgeList parts = RdmaSgeList.create(2).add(region, 0, 4).add(region, 8, 4);
            RdmaInlineData data = inline("8 bytes.");
            RpmaCompletions completions = RpmaCompletions.create(4);
            try (RdmaPair pair = RdmaPair.connect(attr(), attr().srq(srq))) {
                RdmaQp from = pair.client.qp();
                ToIntFunction<RpmaCompletions> sendQueue = from::pollSendComp;
                ToIntFunction<RpmaCompletions> recvQueue = pair.server.qp()::pollRecvComp;
                Allocation.assertNone(() -> {
                    boolean posted = srq.postRecv(region, 0, 8, 1)
                            & srq.postRecvv(parts, 2)
                            & from.postSendInline(data, 8, F_SIGNALED, 3)
                            & from.postSendInline(data, 8, F_SIGNALED, 4);
                    if (!posted) {
                        throw new AssertionError("a queue is full");
                    }
                    RdmaPair.take(2, sendQueue, completions);
                    RdmaPair.take(2, recvQueue, completions);
                });
            }
        }
    }

    @Test
    void aFullQueueIsAnAnswer() {
        try (RdmaId owner = bound();
                RpmaMemory memory = RpmaMemory.allocate(64);
                RdmaMr region = RdmaMr.regMsgs(owner, memory)) {
            RdmaSrq srq = owner.createSrq(4, 1);
            int posted = 0;
            while (posted < 10_000 && srq.postRecv(region, 0, 8, posted)) {
                posted++;
            }
            assertThat(posted).isBetween(srq.maxWr(), 9_999);
        }
    }

    @Test
    void isMadeOnce() {
        try (RdmaId owner = bound()) {
            assertThatIllegalArgumentException().isThrownBy(() -> owner.createSrq(0, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> owner.createSrq(1, 0));
            assertThatIllegalArgumentException().isThrownBy(() -> owner.createSrq(1, 65));
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> owner.createSrq(1 << 30, 1))
                    .withMessageContaining("ibv_devinfo");
            owner.createSrq(1, 1);
            assertThatIllegalStateException()
                    .isThrownBy(() -> owner.createSrq(1, 1))
                    .withMessage(owner.object() + " has a shared receive queue already");
        }
    }

    /** Two ids that use each other's queues could never be closed. */
    @Test
    void isNotForAnIdWithAQueueOfItsOwn() {
        try (RdmaId one = bound();
                RdmaId other = bound()) {
            RdmaSrq srq = one.createSrq(1, 1);
            other.createSrq(1, 1);
            assertThatIllegalStateException()
                    .isThrownBy(() -> other.createQp(attr().srq(srq)))
                    .withMessage(other.object() + " has a shared receive queue, and can't use that of " + one.object());
            other.createQp(attr());
        }
    }

    @Test
    void endsWithItsId() throws InterruptedException {
        RdmaSrq srq;
        try (RdmaId owner = bound()) {
            srq = owner.createSrq(1, 1);
        }
        try (RdmaPair pair = RdmaPair.connect();
                RdmaId late = RdmaPair.resolved(7)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> srq.postRecv(pair.clientMr, 0, 8, 1))
                    .withMessageContaining("is closed");
            assertThatIllegalStateException()
                    .isThrownBy(() -> srq.postRecvv(RdmaSgeList.create(1), 1))
                    .withMessage("rdma_post_recvv: " + name(srq) + " is closed");
            assertThatIllegalStateException().isThrownBy(() -> late.createQp(attr().srq(srq)));
            late.createQp(attr());
        }
    }
}
