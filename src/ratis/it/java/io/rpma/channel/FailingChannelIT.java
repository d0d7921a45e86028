// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each call of a device fails once: a request then has its answer, or fails by an exception. Afterwards the channels
 * work, and nothing is lost.
 */
@Tag("stand-in")
@Tag("faults")
class FailingChannelIT {
    private static final int ENOMEM = 12;

    /** A session repairs fewer failures in succession, for example of receives that it needs later. */
    private static final int MOST_UNNOTICED = 30;

    private final String address = TestDevice.address();
    private final ChannelOptions options = new ChannelOptions()
            .setUnanswered(4, 64 << 20)
            .setBufferSize(1_000)
            .setPauses(1, 1, MILLISECONDS)
            .setConnectTimeout(2, SECONDS);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_alloc_pd",
                "ibv_reg_mr",
                "ibv_create_cq",
                "ibv_create_comp_channel",
                "ibv_create_qp",
                "ibv_modify_qp",
                "ibv_req_notify_cq",
                "ibv_get_cq_event",
                "ibv_poll_cq",
                "ibv_post_send",
                "ibv_post_recv",
                "open",
                "fcntl",
                "rpma_conn_cfg_new",
                "rpma_conn_get_private_data",
                "ucma:CREATE_ID",
                "ucma:RESOLVE_IP",
                "ucma:RESOLVE_ROUTE",
                "ucma:CONNECT",
                "ucma:ACCEPT",
                "ucma:LISTEN",
                "ucma:BIND_IP",
                "ucma:GET_EVENT",
                "ucma:DISCONNECT",
                "ucma:INIT_QP_ATTR",
                "ucma:MIGRATE_ID"
            })
    void aCallFails(String call) throws Exception {
        session();
        String alive = StandIn.alive();
        int failures = 0;
        int unnoticed = 0;
        // The last call of the session is passed when no fault is noticed any more.
        for (int number = 0; unnoticed < MOST_UNNOTICED; number++) {
            try (StandIn standIn = StandIn.open()) {
                if (number > 0) {
                    standIn.pass(call, number);
                }
                standIn.fail(call, 1, ENOMEM);
                if (failingSession()) {
                    failures++;
                    unnoticed = 0;
                } else {
                    unnoticed++;
                }
            }
            assertThat(StandIn.alive()).as("after call %d failed", number).isEqualTo(alive);
        }
        // No request notices how its connection ends.
        assertThat(failures > 0 || call.equals("ucma:DISCONNECT"))
                .as("a request fails")
                .isTrue();
        session();
    }

    private void session() throws Exception {
        assertThat(failingSession()).as("failed without a fault").isFalse();
    }

    /** Returns whether a part of the session has failed. */
    private boolean failingSession() throws Exception {
        int port = TestDevice.port();
        boolean failed = false;
        try (Channels server = Channels.create(RpmaDevice.local(address), options);
                Channels client = Channels.create(RpmaDevice.local(address), options)) {
            server.listen(address, port, () -> (request, answer) -> answer.send(Message.of(request)));
            try (Channel channel = client.connect(address, port)) {
                for (int length : new int[] {20_000, 3, 5, 7, 9, 11, 30_000}) {
                    failed |= !isAnswered(channel, length);
                }
                failed |= !areAnswered(channel, 20_000, 1, 30_000, 40_000);
            }
        } catch (RpmaException e) {
            failed = true;
        }
        return failed;
    }

    /** Returns whether all of several requests that are under way at the same time are answered. */
    private static boolean areAnswered(Channel channel, int... lengths) throws Exception {
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        for (int length : lengths) {
            answers.add(ask(channel, length));
        }
        boolean all = true;
        for (int i = 0; i < lengths.length; i++) {
            all &= isAnswered(answers.get(i), lengths[i]);
        }
        return all;
    }

    private static boolean isAnswered(Channel channel, int length) throws Exception {
        return isAnswered(ask(channel, length), length);
    }

    private static CompletableFuture<Integer> ask(Channel channel, int length) throws InterruptedException {
        return channel.request(Message.of(new byte[length]), bytes -> bytes.remaining(), 20, SECONDS);
    }

    private static boolean isAnswered(CompletableFuture<Integer> answer, int length) throws Exception {
        try {
            assertThat(answer.get(60, SECONDS)).isEqualTo(length);
            return true;
        } catch (ExecutionException e) {
            assertThat(e.getCause())
                    .isInstanceOf(ChannelException.class)
                    .isNotInstanceOf(ChannelException.TimeoutException.class);
            return false;
        }
    }
}
