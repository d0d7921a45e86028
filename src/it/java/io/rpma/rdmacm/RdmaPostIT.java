// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_FENCE;
import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.rdmacm.RdmaQp.F_SOLICITED;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.getLong;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.put;
import static io.rpma.testing.RdmaPair.putLong;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcOpcode;
import io.rpma.RpmaWcStatus;
import io.rpma.testing.Allocation;
import io.rpma.testing.Blocked;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Everything that is posted on a connection. */
class RdmaPostIT {
    private static final int WRITES = 5000;

    private RdmaPair pair;
    private RdmaQp qp;
    private RdmaQp serverQp;
    private long remote;
    private int rkey;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaPair.connect();
        qp = pair.client.qp();
        serverQp = pair.server.qp();
        remote = pair.serverMr.address();
        rkey = pair.serverMr.rkey();
    }

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void write() throws InterruptedException {
        put(pair.clientMemory, 100, "hello");
        assertThat(qp.postWrite(pair.clientMr, 100, 5, F_SIGNALED, remote + 200, rkey, 7))
                .isTrue();
        RpmaCompletions done = sent(qp, 7);
        assertThat(done.opcode(0)).isSameAs(RpmaWcOpcode.RDMA_WRITE);
        assertThat(done.qpNum(0)).isEqualTo(qp.qpNum());
        assertThat(get(pair.serverMemory, 200, 5)).isEqualTo("hello");
    }

    @Test
    void writeInline() throws InterruptedException {
        RdmaInlineData data = inline("inline");
        assertThat(qp.postWriteInline(data, 6, F_SIGNALED, remote, rkey, 8)).isTrue();
        data.buffer().put(new byte[6]);
        sent(qp, 8);
        assertThat(get(pair.serverMemory, 0, 6)).isEqualTo("inline");
    }

    @Test
    void writeInlineAsMuchAsGranted() throws InterruptedException {
        int most = qp.maxInlineData();
        assertThat(most).isGreaterThanOrEqualTo(64);
        RdmaInlineData data = RdmaInlineData.create(most);
        data.buffer().put(most - 1, (byte) 'x');
        assertThat(qp.postWriteInline(data, most, F_SIGNALED, remote, rkey, 8)).isTrue();
        sent(qp, 8);
        assertThat(get(pair.serverMemory, most - 1, 1)).isEqualTo("x");
    }

    @Test
    void writeFromSeveralParts() throws InterruptedException {
        put(pair.clientMemory, 0, "one");
        put(pair.clientMemory, 1000, "two");
        put(pair.clientMemory, 2000, "three");
        RdmaSgeList parts = RdmaSgeList.create(4)
                .add(pair.clientMr, 2000, 5)
                .add(pair.clientMr, 0, 3)
                .add(pair.clientMr, 1000, 3);
        assertThat(parts.length()).isEqualTo(11);
        assertThat(qp.postWritev(parts, F_SIGNALED, remote, rkey, 9)).isTrue();
        parts.clear();
        sent(qp, 9);
        assertThat(get(pair.serverMemory, 0, 11)).isEqualTo("threeonetwo");
    }

    /** soft-iWARP would read into the first part only, and report a success. */
    @Test
    void aReadIntoMorePartsThanTheDeviceTakes() {
        long most = RpmaDevice.local(TestDevice.address()).limits().get("max_sge_rd");
        assertThat(qp.maxReadSge()).isEqualTo((int) Math.min(most, qp.maxSendSge()));
        RdmaSgeList parts = RdmaSgeList.create(qp.maxReadSge() + 1);
        for (int i = 0; i <= qp.maxReadSge(); i++) {
            parts.add(pair.clientMr, i, 1);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> qp.postReadv(parts, F_SIGNALED, remote, rkey, 1))
                .withMessageContaining("the queue takes " + qp.maxReadSge() + " in one operation");
    }

    @Tag("read-parts")
    @Test
    void readIntoOneAndSeveralParts() throws InterruptedException {
        put(pair.serverMemory, 10, "remote bytes");
        assertThat(qp.postRead(pair.clientMr, 0, 6, F_SIGNALED, remote + 10, rkey, 1))
                .isTrue();
        assertThat(sent(qp, 1).opcode(0)).isSameAs(RpmaWcOpcode.RDMA_READ);
        assertThat(get(pair.clientMemory, 0, 6)).isEqualTo("remote");

        RdmaSgeList parts = RdmaSgeList.create(2).add(pair.clientMr, 100, 6).add(pair.clientMr, 300, 6);
        assertThat(qp.postReadv(parts, F_SIGNALED, remote + 10, rkey, 2)).isTrue();
        sent(qp, 2);
        assertThat(get(pair.clientMemory, 100, 6)).isEqualTo("remote");
        assertThat(get(pair.clientMemory, 300, 6)).isEqualTo(" bytes");
    }

    @Test
    void messages() throws InterruptedException {
        put(pair.clientMemory, 0, "message");
        serverQp.postRecv(pair.serverMr, 50, 100, 21);
        assertThat(qp.postSend(pair.clientMr, 0, 7, F_SIGNALED | F_SOLICITED, 11))
                .isTrue();
        sent(qp, 11);
        RpmaCompletions message = received(serverQp, 21);
        assertThat(message.opcode(0)).isSameAs(RpmaWcOpcode.RECV);
        assertThat(message.byteLen(0)).isEqualTo(7);
        assertThat(message.hasImmData(0)).isFalse();
        assertThat(get(pair.serverMemory, 50, 7)).isEqualTo("message");

        serverQp.postRecv(pair.serverMr, 0, 100, 22);
        assertThat(qp.postSendInline(inline("brief"), 5, F_SIGNALED, 12)).isTrue();
        sent(qp, 12);
        assertThat(received(serverQp, 22).byteLen(0)).isEqualTo(5);
        assertThat(get(pair.serverMemory, 0, 5)).isEqualTo("brief");
    }

    private void send(int flags, long context) throws InterruptedException {
        assertThat(qp.postSendInline(inline("x"), 1, F_SIGNALED | flags, context))
                .isTrue();
        sent(qp, context);
    }

    @Tag("solicited-events")
    @Test
    void onlyASolicitedMessageEndsAWaitForOne() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 3; i++) {
                serverQp.postRecv(pair.serverMr, 0, 8, i);
            }
            Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions));
            send(0, 1);
            send(0, 2);
            send(F_SOLICITED, 3);
            // if an unsolicited message had ended the wait, there would be fewer completions
            assertThat(waiter.result()).isEqualTo(3);
            assertThat(completions.wrId(2)).isEqualTo(2);
        }
    }

    @Tag("immediate-data")
    @Test
    void aWriteCanBeSolicitedToo() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        serverQp.postRecv(pair.serverMr, 0, 0, 1);
        serverQp.postRecv(pair.serverMr, 0, 0, 2);
        Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions, 1, TimeUnit.MINUTES));
        qp.postWriteWithImm(pair.clientMr, 0, 1, 0, remote, rkey, 1, 1);
        qp.postWriteWithImm(pair.clientMr, 0, 1, F_SOLICITED, remote, rkey, 2, 2);
        assertThat(waiter.result()).isEqualTo(2);
        assertThat(completions.immData(1)).isEqualTo(2);
    }

    @Test
    void whatHasComeUnsolicitedIsTakenWhenTheTimeIsUp() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        assertThat(serverQp.getSolicitedRecvComp(completions, 0, TimeUnit.SECONDS))
                .isZero();
        for (int i = 0; i < 3; i++) {
            serverQp.postRecv(pair.serverMr, 0, 8, i);
        }
        Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions, 2, TimeUnit.SECONDS));
        send(0, 1);
        send(0, 2);
        assertThat(waiter.result()).isEqualTo(2);
        // a completion that is there before the wait is enough
        send(0, 3);
        assertThat(serverQp.getSolicitedRecvComp(completions)).isEqualTo(1);
    }

    @Tag("solicited-events")
    @Test
    void waitsForAnyAndForSolicitedOnesTakeTurns() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(1);
        for (int i = 0; i < 8; i++) {
            serverQp.postRecv(pair.serverMr, 0, 8, i);
        }
        for (int i = 0; i < 8; i += 2) {
            Blocked solicited = new Blocked(() -> serverQp.getSolicitedRecvComp(completions));
            send(F_SOLICITED, i);
            assertThat(solicited.result()).isEqualTo(1);
            assertThat(completions.wrId(0)).isEqualTo(i);
            Blocked any = new Blocked(() -> serverQp.getRecvComp(completions));
            send(0, i + 1);
            assertThat(any.result()).isEqualTo(1);
            assertThat(completions.wrId(0)).isEqualTo(i + 1);
        }
    }

    @Tag("solicited-events")
    @Test
    void aSolicitedMessageThatFailsEndsAWaitForOne() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        serverQp.postRecv(pair.serverMr, 0, 1, 1);
        Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions));
        qp.postSend(pair.clientMr, 0, 2, F_SIGNALED | F_SOLICITED, 2);
        assertThat(waiter.result()).isEqualTo(1);
        // soft-RoCE has the second status
        assertThat(completions.status(0)).isIn(RpmaWcStatus.LOC_LEN_ERR, RpmaWcStatus.LOC_QP_OP_ERR);
    }

    /** The wait ends at once; on soft-RoCE of Linux 6.2 or later, it ends when the time is up. */
    @Test
    void whatABrokenConnectionLeavesEndsAWaitForSolicitedOnes() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        serverQp.postRecv(pair.serverMr, 0, 8, 1);
        Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions, 2, TimeUnit.SECONDS));
        pair.server.disconnect();
        assertThat(waiter.result()).isEqualTo(1);
        assertThat(completions.status(0)).isSameAs(RpmaWcStatus.WR_FLUSH_ERR);
    }

    @Test
    void messagesOfSeveralParts() throws InterruptedException {
        put(pair.clientMemory, 0, "abcdef");
        RdmaSgeList into = RdmaSgeList.create(2).add(pair.serverMr, 500, 2).add(pair.serverMr, 0, 10);
        RdmaSgeList from = RdmaSgeList.create(2).add(pair.clientMr, 3, 3).add(pair.clientMr, 0, 3);
        assertThat(serverQp.postRecvv(into, 31)).isTrue();
        assertThat(qp.postSendv(from, F_SIGNALED, 32)).isTrue();
        sent(qp, 32);
        assertThat(received(serverQp, 31).byteLen(0)).isEqualTo(6);
        assertThat(get(pair.serverMemory, 500, 2)).isEqualTo("de");
        assertThat(get(pair.serverMemory, 0, 4)).isEqualTo("fabc");
    }

    /** The kernel of soft-iWARP would crash. */
    @Test
    void partsWithoutBytesAreOmitted() throws InterruptedException {
        put(pair.clientMemory, 0, "abc");
        RdmaSgeList into = RdmaSgeList.create(4)
                .add(pair.serverMr, 9, 0)
                .add(pair.serverMr, 500, 2)
                .add(pair.serverMr, 9, 0)
                .add(pair.serverMr, 0, 10);
        RdmaSgeList from = RdmaSgeList.create(4)
                .add(pair.clientMr, 9, 0)
                .add(pair.clientMr, 2, 1)
                .add(pair.clientMr, 9, 0)
                .add(pair.clientMr, 0, 2);
        assertThat(serverQp.postRecvv(into, 33)).isTrue();
        assertThat(qp.postSendv(from, F_SIGNALED, 34)).isTrue();
        sent(qp, 34);
        assertThat(received(serverQp, 33).byteLen(0)).isEqualTo(3);
        assertThat(get(pair.serverMemory, 500, 2)).isEqualTo("ca");
        assertThat(get(pair.serverMemory, 0, 1)).isEqualTo("b");
    }

    /** soft-iWARP refuses a receive of no parts. */
    @Test
    void partsWithoutBytesAreAMessageOfNoBytes() throws InterruptedException {
        assertThat(serverQp.postRecvv(
                        RdmaSgeList.create(2).add(pair.serverMr, 0, 0).add(pair.serverMr, 8, 0), 35))
                .isTrue();
        assertThat(qp.postSendv(
                        RdmaSgeList.create(2).add(pair.clientMr, 0, 0).add(pair.clientMr, 8, 0), F_SIGNALED, 36))
                .isTrue();
        sent(qp, 36);
        assertThat(received(serverQp, 35).byteLen(0)).isZero();
    }

    @Tag("empty-receives")
    @Test
    void anEmptyListIsAMessageOfNoBytes() throws InterruptedException {
        RdmaSgeList empty = RdmaSgeList.create(1);
        serverQp.postRecvv(empty, 41);
        assertThat(qp.postSendv(empty, F_SIGNALED, 42)).isTrue();
        sent(qp, 42);
        assertThat(received(serverQp, 41).byteLen(0)).isZero();
        assertThat(qp.postSendInline(inline(""), 0, 0, 43)).isTrue();
    }

    @Tag("immediate-data")
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 0x01020304, -1, Integer.MIN_VALUE})
    void immediateData(int imm) throws InterruptedException {
        put(pair.clientMemory, 0, "data");
        serverQp.postRecv(pair.serverMr, 0, 10, 51);
        serverQp.postRecv(pair.serverMr, 0, 10, 52);
        assertThat(qp.postSendWithImm(pair.clientMr, 0, 4, F_SIGNALED, imm, 61)).isTrue();
        sent(qp, 61);
        RpmaCompletions message = received(serverQp, 51);
        assertThat(message.hasImmData(0)).isTrue();
        assertThat(message.immData(0)).isEqualTo(imm);

        assertThat(qp.postWriteWithImm(pair.clientMr, 0, 4, F_SIGNALED, remote + 700, rkey, imm, 62))
                .isTrue();
        sent(qp, 62);
        RpmaCompletions written = received(serverQp, 52);
        assertThat(written.opcode(0)).isSameAs(RpmaWcOpcode.RECV_RDMA_WITH_IMM);
        assertThat(written.immData(0)).isEqualTo(imm);
        assertThat(get(pair.serverMemory, 700, 4)).isEqualTo("data");
    }

    @Tag("immediate-data")
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 0x01020304, -1, Integer.MIN_VALUE})
    void immediateDataWithInlineData(int imm) throws InterruptedException {
        serverQp.postRecv(pair.serverMr, 0, 10, 51);
        serverQp.postRecv(pair.serverMr, 0, 10, 52);
        RdmaInlineData data = inline("brief");
        assertThat(qp.postSendWithImmInline(data, 5, F_SIGNALED, imm, 61)).isTrue();
        data.buffer().put(new byte[5]);
        sent(qp, 61);
        RpmaCompletions message = received(serverQp, 51);
        assertThat(message.opcode(0)).isSameAs(RpmaWcOpcode.RECV);
        assertThat(message.hasImmData(0)).isTrue();
        assertThat(message.immData(0)).isEqualTo(imm);
        assertThat(message.byteLen(0)).isEqualTo(5);
        assertThat(get(pair.serverMemory, 0, 5)).isEqualTo("brief");

        assertThat(qp.postWriteWithImmInline(inline("written"), 7, F_SIGNALED, remote + 700, rkey, imm, 62))
                .isTrue();
        sent(qp, 62);
        RpmaCompletions written = received(serverQp, 52);
        assertThat(written.opcode(0)).isSameAs(RpmaWcOpcode.RECV_RDMA_WITH_IMM);
        assertThat(written.immData(0)).isEqualTo(imm);
        assertThat(get(pair.serverMemory, 700, 7)).isEqualTo("written");
    }

    @Tag("immediate-data")
    @Test
    void immediateDataWithAsMuchInlineDataAsGranted() throws InterruptedException {
        int most = qp.maxInlineData();
        RdmaInlineData data = RdmaInlineData.create(most);
        data.buffer().put(most - 1, (byte) 'x');
        serverQp.postRecv(pair.serverMr, 0, 0, 1);
        assertThat(qp.postWriteWithImmInline(data, most, F_SIGNALED, remote, rkey, 1, 8))
                .isTrue();
        sent(qp, 8);
        assertThat(get(pair.serverMemory, most - 1, 1)).isEqualTo("x");
    }

    @Tag("atomics")
    @Test
    void compareAndSwap() throws InterruptedException {
        putLong(pair.serverMemory, 8, 40);
        qp.postCompareAndSwap(pair.clientMr, 0, F_SIGNALED, remote + 8, rkey, 40, Long.MIN_VALUE, 1);
        assertThat(sent(qp, 1).opcode(0)).isSameAs(RpmaWcOpcode.COMP_SWAP);
        assertThat(getLong(pair.clientMemory, 0)).isEqualTo(40);
        assertThat(getLong(pair.serverMemory, 8)).isEqualTo(Long.MIN_VALUE);

        qp.postCompareAndSwap(pair.clientMr, 0, F_SIGNALED, remote + 8, rkey, 40, 41, 2);
        sent(qp, 2);
        assertThat(getLong(pair.clientMemory, 0)).isEqualTo(Long.MIN_VALUE);
        assertThat(getLong(pair.serverMemory, 8)).isEqualTo(Long.MIN_VALUE);
    }

    @Tag("atomics")
    @Test
    void fetchAndAdd() throws InterruptedException {
        putLong(pair.serverMemory, 0, 40);
        qp.postFetchAndAdd(pair.clientMr, 16, F_SIGNALED, remote, rkey, -2, 1);
        assertThat(sent(qp, 1).opcode(0)).isSameAs(RpmaWcOpcode.FETCH_ADD);
        qp.postFetchAndAdd(pair.clientMr, 24, F_SIGNALED | F_FENCE, remote, rkey, 4, 2);
        sent(qp, 2);
        assertThat(getLong(pair.clientMemory, 16)).isEqualTo(40);
        assertThat(getLong(pair.clientMemory, 24)).isEqualTo(38);
        assertThat(getLong(pair.serverMemory, 0)).isEqualTo(42);
    }

    @Tag("atomics")
    @Test
    void atomicsOfSeveralThreadsAddUp() throws Exception {
        int threads = 4;
        int adds = 50;
        putLong(pair.serverMemory, 0, 0);
        Together.run(threads, thread -> {
            try (RdmaPair own = RdmaPair.connect()) {
                for (int i = 0; i < adds; i++) {
                    own.client.qp().postFetchAndAdd(own.clientMr, 0, F_SIGNALED, remote, rkey, thread + 1, i);
                    sent(own.client.qp(), i);
                }
            }
        });
        assertThat(getLong(pair.serverMemory, 0)).isEqualTo(adds * (1 + 2 + 3 + 4));
    }

    /** Threads must not share a list, but if they do, its content still fits into the shim's array. */
    @Test
    void aListThatThreadsShareHasNeverMoreThanItTakes() throws Exception {
        RdmaSgeList list = RdmaSgeList.create(2);
        Together.run(3, thread -> {
            for (int i = 0; i < 20_000; i++) {
                try {
                    list.add(pair.clientMr, 0, 0);
                } catch (IllegalStateException e) {
                    list.clear();
                }
                assertThat(RdmaSgeList.use(list, 2)).isBetween(0, 2);
            }
        });
    }

    @Test
    void severalThreadsPostOnOneQueue() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(16);
        Together.run(2, thread -> {
            for (int i = 0; i < 8; i++) {
                assertThat(qp.postWriteInline(inline("t" + thread + i), 3, F_SIGNALED, remote + 64 * thread, rkey, i))
                        .isTrue();
            }
        });
        for (int taken = 0; taken < 16; ) {
            int more = qp.getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS);
            assertThat(more).isPositive();
            taken += more;
        }
        assertThat(get(pair.serverMemory, 0, 3)).isEqualTo("t07");
        assertThat(get(pair.serverMemory, 64, 3)).isEqualTo("t17");
    }

    /** The completions that several threads have taken, by their context. */
    private static final class Taken {
        final AtomicIntegerArray times = new AtomicIntegerArray(WRITES + 3);
        final AtomicInteger total = new AtomicInteger();
        final AtomicInteger waiters = new AtomicInteger(2);

        void add(RpmaCompletions completions, int count) {
            for (int i = 0; i < count; i++) {
                assertThat(completions.status(i)).isSameAs(RpmaWcStatus.SUCCESS);
                times.incrementAndGet((int) completions.wrId(i));
            }
            total.addAndGet(count);
        }

        /** Waits for room in the queues. */
        void awaitAllBut(int underWay, int posted) {
            Eventually.become("there is room", () -> total.get() >= posted - underWay);
        }
    }

    private void post(int context) {
        assertThat(qp.postWriteInline(inline("x"), 1, F_SIGNALED, remote, rkey, context))
                .isTrue();
    }

    private void postAll(Taken taken) {
        for (int i = 0; i < WRITES; i++) {
            // from time to time all writes are done, so that the waiters block
            taken.awaitAllBut(i % 50 == 0 ? 0 : qp.maxSendWr() - 1, i);
            post(i);
        }
        taken.awaitAllBut(qp.maxSendWr() - 1, WRITES);
        for (int i = WRITES; taken.waiters.get() > 0; i++) {
            int posted = i + 1;
            post(i);
            Eventually.become("a waiter is woken", () -> taken.total.get() >= posted || taken.waiters.get() == 0);
        }
    }

    private void awaitAll(Taken taken, RpmaCompletions completions) throws InterruptedException {
        while (taken.total.get() < WRITES) {
            int count = qp.getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS);
            assertThat(count).as("completions of a wait").isPositive();
            taken.add(completions, count);
        }
        taken.waiters.decrementAndGet();
    }

    private void pollHalf(Taken taken, RpmaCompletions completions) {
        while (taken.total.get() < WRITES / 2) {
            taken.add(completions, qp.pollSendComp(completions));
            Thread.yield();
        }
    }

    /**
     * Two threads wait and one polls: each completion is taken once, and no waiter blocks while there is a completion.
     */
    @Test
    void waitsAndPollsAddUp() throws Exception {
        Taken taken = new Taken();
        Together.run(4, thread -> {
            RpmaCompletions completions = RpmaCompletions.create(1 + thread);
            if (thread == 0) {
                postAll(taken);
            } else if (thread == 1) {
                pollHalf(taken, completions);
            } else {
                awaitAll(taken, completions);
            }
        });
        for (int i = 0; i < WRITES; i++) {
            assertThat(taken.times.get(i)).as("completions of write " + i).isEqualTo(1);
        }
    }

    private static Stream<RdmaPost> withAKey() {
        return RdmaPost.operations().filter(post -> post.access != null);
    }

    @Tag("remote-errors")
    @ParameterizedTest
    @MethodSource("withAKey")
    void aWrongKeyBreaksTheConnection(RdmaPost post) throws InterruptedException {
        RdmaPost.Arguments arguments = new RdmaPost.Arguments(pair);
        arguments.rkey ^= 0x5a5a00;
        assertBreaksTheConnection(post, arguments);
    }

    private void assertBreaksTheConnection(RdmaPost post, RdmaPost.Arguments arguments) throws InterruptedException {
        // posts with immediate data need a receive
        serverQp.postRecv(pair.serverMr, 0, 8, 1);
        arguments.flags = 0;
        assertThat(post.post(arguments)).isTrue();
        sent(qp, 1, RpmaWcStatus.REM_ACCESS_ERR);
        assertThat(qp.postWrite(pair.clientMr, 0, 8, F_SIGNALED, remote, rkey, 2))
                .isTrue();
        sent(qp, 2, RpmaWcStatus.WR_FLUSH_ERR);
    }

    /** The side without a receive has set how often the message is sent again. */
    @Tag("remote-errors")
    @ParameterizedTest
    @CsvSource({"0, 7", "7, 0", "7, 2"})
    void aMessageThatNobodyReceivesBreaksTheConnection(int asked, int accepted) throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.prepared(port)) {
            client.connect(new RdmaConnParam().rnrRetryCount(asked));
            try (RdmaId server = RdmaPair.request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam().rnrRetryCount(accepted));
                RdmaPair.awaitEvent(client, RdmaEventType.ESTABLISHED);
                RdmaPair.awaitEvent(server, RdmaEventType.ESTABLISHED);
                RdmaQp sender = asked < accepted ? server.qp() : client.qp();
                assertThat(sender.postSendInline(inline("x"), 1, 0, 1)).isTrue();
                sent(sender, 1, RpmaWcStatus.RNR_RETRY_EXC_ERR);
                assertThat(sender.postSendInline(inline("x"), 1, F_SIGNALED, 2)).isTrue();
                sent(sender, 2, RpmaWcStatus.WR_FLUSH_ERR);
            }
        }
    }

    @Tag("immediate-data")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withoutAFlagAnOperationCompletesWhereAllDo(boolean all) throws InterruptedException {
        try (RdmaPair own = RdmaPair.connect(RdmaPair.attr().sigAll(all), RdmaPair.attr())) {
            RdmaQp ownQp = own.client.qp();
            RdmaPost.Arguments arguments = new RdmaPost.Arguments(own);
            arguments.flags = 0;
            for (RdmaPost post : RdmaPost.operations().toList()) {
                own.server.qp().postRecv(own.serverMr, 0, 8, 1);
                assertThat(post.post(arguments)).as(post.method()).isTrue();
                if (all) {
                    sent(ownQp, 1);
                }
            }
            assertThat(ownQp.postSendInline(inline("x"), 1, F_SIGNALED, 2)).isTrue();
            sent(ownQp, 2);
            assertThat(ownQp.pollSendComp(RpmaCompletions.create(1))).isZero();
        }
    }

    @Tag("remote-errors")
    @Test
    void aWrongAddressBreaksTheConnection() throws InterruptedException {
        qp.postRead(pair.clientMr, 0, 8, F_SIGNALED, remote + RdmaPair.SIZE - 7, rkey, 1);
        sent(qp, 1, RpmaWcStatus.REM_ACCESS_ERR);
    }

    @Tag("remote-errors")
    @ParameterizedTest
    @MethodSource("withAKey")
    void anAccessThatIsNotGrantedBreaksTheConnection(RdmaPost post) throws InterruptedException {
        RdmaAccess[] others = Arrays.stream(RdmaAccess.values())
                .filter(access -> access != post.access)
                .toArray(RdmaAccess[]::new);
        try (RpmaMemory memory = RpmaMemory.allocate(64);
                RdmaMr target = RdmaMr.reg(pair.server, memory, others)) {
            assertBreaksTheConnection(post, new RdmaPost.Arguments(qp, pair.clientMr, target));
        }
    }

    /** The message comes first and blocks all other posts until the other side posts a receive. */
    @Tag("full-queues")
    @Test
    void aFullSendQueueIsAnAnswer() throws InterruptedException {
        assertThat(qp.postSend(pair.clientMr, 0, 8, F_SIGNALED, 0)).isTrue();
        int posted = 1;
        while (posted < 10_000 && postWrite(posted)) {
            posted++;
        }
        assertThat(posted).isBetween(qp.maxSendWr(), 9_999);
        RdmaPost.Arguments arguments = new RdmaPost.Arguments(pair);
        RdmaPost.operations()
                .forEach(post ->
                        assertThat(post.post(arguments)).as(post.method()).isFalse());

        serverQp.postRecv(pair.serverMr, 0, 8, 1);
        for (int i = 0; i < qp.maxSendWr(); i++) {
            sent(qp, i);
        }
        for (RdmaPost post : RdmaPost.operations().toList()) {
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            assertThat(post.post(arguments)).as(post.method()).isTrue();
            sent(qp, 1);
        }
        assertThat(qp.pollSendComp(RpmaCompletions.create(1))).isZero();
    }

    /** Posts a write, with a completion only while the completion queue has room. */
    private boolean postWrite(int context) {
        int flags = context < qp.maxSendWr() ? F_SIGNALED : 0;
        return qp.postWrite(pair.clientMr, 0, 8, flags, remote, rkey, context);
    }

    @Test
    void aFullReceiveQueueIsAnAnswer() throws InterruptedException {
        int posted = 0;
        while (posted < 10_000 && serverQp.postRecv(pair.serverMr, 0, 8, posted)) {
            posted++;
        }
        assertThat(posted).isBetween(serverQp.maxRecvWr(), 9_999);
        pair.server.disconnect();
        RpmaCompletions flushed = RpmaCompletions.create(1);
        assertThat(serverQp.getRecvComp(flushed, Limit.WAIT_S, TimeUnit.SECONDS))
                .isEqualTo(1);
        assertThat(flushed.status(0)).isSameAs(RpmaWcStatus.WR_FLUSH_ERR);
    }

    @Test
    void aClosedIdHasNoCompletions() throws InterruptedException {
        RdmaPair other = RdmaPair.connect();
        RdmaQp closed = other.client.qp();
        other.close();
        RpmaCompletions completions = RpmaCompletions.create(1);
        for (ThrowingCallable call : new ThrowingCallable[] {
            () -> closed.pollSendComp(completions),
            () -> closed.pollRecvComp(completions),
            () -> closed.getSendComp(completions),
            () -> closed.getRecvComp(completions, 1, TimeUnit.SECONDS),
            () -> closed.getSolicitedRecvComp(completions)
        }) {
            assertThatIllegalStateException().isThrownBy(call).withMessageEndingWith(" is closed");
        }
    }

    /** soft-RoCE would refuse the post, but carry it out once there is a connection. */
    @Test
    void whatIsPostedBeforeTheConnectionIsNeverCarriedOut() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.resolved(port)) {
            RdmaQp clientQp = client.createQp(RdmaPair.attr());
            put(pair.clientMemory, 0, "too early");
            RdmaPost.Arguments early = new RdmaPost.Arguments(clientQp, pair.clientMr, pair.serverMr);
            RdmaPost.operations()
                    .forEach(post -> assertThatExceptionOfType(RpmaException.class)
                            .isThrownBy(() -> post.post(early))
                            .withMessageEndingWith("post after nextEvent() has returned ESTABLISHED")
                            .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOTCONN")));
            client.connect(new RdmaConnParam());
            try (RdmaId server = RdmaPair.request(listener)) {
                server.createQp(RdmaPair.attr());
                RdmaPair.accept(client, server);
                assertThat(clientQp.postWriteInline(inline("later"), 5, F_SIGNALED, remote + 64, rkey, 2))
                        .isTrue();
                sent(clientQp, 2);
                assertThat(clientQp.pollSendComp(RpmaCompletions.create(1))).isZero();
                byte[] expected = new byte[RdmaPair.SIZE];
                System.arraycopy("later".getBytes(StandardCharsets.US_ASCII), 0, expected, 64, 5);
                byte[] written = new byte[RdmaPair.SIZE];
                pair.serverMemory.buffer().get(0, written);
                assertThat(written).isEqualTo(expected);
            }
        }
    }

    @Tag("atomics")
    @Test
    void nothingIsAllocatedByAPostOrPoll() {
        RdmaPost[] operations = RdmaPost.operations().toArray(RdmaPost[]::new);
        RdmaPost[] receives = RdmaPost.receives().toArray(RdmaPost[]::new);
        int messages = (int) RdmaPost.operations().filter(RdmaPost::isMessage).count();
        RdmaPost.Arguments client = new RdmaPost.Arguments(pair);
        RdmaPost.Arguments server = new RdmaPost.Arguments(serverQp, pair.serverMr, pair.clientMr);
        RpmaCompletions completions = RpmaCompletions.create(16);
        ToIntFunction<RpmaCompletions> sendQueue = qp::pollSendComp;
        ToIntFunction<RpmaCompletions> recvQueue = serverQp::pollRecvComp;
        Allocation.assertNone(() -> {
            client.parts.clear().add(pair.clientMr, 0, 4).add(pair.clientMr, 4, 4);
            boolean posted = true;
            for (int i = 0; i < messages; i++) {
                posted &= receives[i % receives.length].post(server);
            }
            for (RdmaPost operation : operations) {
                posted &= operation.post(client);
            }
            if (!posted) {
                throw new AssertionError("a queue is full");
            }
            RdmaPair.take(operations.length, sendQueue, completions);
            RdmaPair.take(messages, recvQueue, completions);
            if (qp.pollSendComp(completions) + serverQp.pollRecvComp(completions) != 0) {
                throw new AssertionError("more than was posted");
            }
        });
    }
}
