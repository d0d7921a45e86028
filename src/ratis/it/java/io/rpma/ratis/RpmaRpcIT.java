// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.rpma.RpmaDevice;
import io.rpma.channel.Channel;
import io.rpma.channel.ChannelOptions;
import io.rpma.channel.Channels;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The ends of a client and of a server, each with a stand-in for the rest of Ratis. */
@Tag("stand-in")
class RpmaRpcIT {
    private static final RaftPeerId SERVER = RaftPeerId.valueOf("s");

    private final String address = TestDevice.address();
    private final int port = TestDevice.port();
    private final RaftProperties properties = new RaftProperties();
    private final ClientId clientId = ClientId.randomId();
    private final RaftGroupId groupId = RaftGroupId.randomId();

    private RaftClientRpc client() {
        RaftClientRpc client = new RpmaFactory().newRaftClientRpc(clientId, properties);
        client.addRaftPeers(List.of(RaftPeer.newBuilder()
                .setId(SERVER)
                .setAddress(address + ":" + port)
                .build()));
        return client;
    }

    private RaftServer server() {
        RpmaConfigKeys.Server.setHost(properties, address);
        RpmaConfigKeys.Server.setPort(properties, port);
        RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(SERVER);
        when(server.getProperties()).thenReturn(properties);
        return server;
    }

    private RaftClientRequest request(long number) {
        return RaftClientRequest.newBuilder()
                .setClientId(clientId)
                .setLeaderId(SERVER)
                .setGroupId(groupId)
                .setCallId(number)
                .setMessage(Message.valueOf("a"))
                .setType(RaftClientRequest.writeRequestType())
                .setSlidingWindowEntry(SlidingWindowEntry.newBuilder()
                        .setSeqNum(number)
                        .setIsFirst(number == 1)
                        .build())
                .build();
    }

    /** In the thread of the channels, an action that sends again and waits for the reply would wait for ever. */
    @Test
    void actionsAfterAFailureMayBlock() throws Exception {
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(200, MILLISECONDS));
        try (Channels silent = Channels.create(RpmaDevice.local(address), new ChannelOptions());
                RaftClientRpc client = client()) {
            silent.listen(address, port, () -> (request, answer) -> {});
            CompletableFuture<String> second = client.sendRequestAsync(request(1))
                    .handle((reply, thrown) -> client.sendRequestAsync(request(2))
                            .handle((again, thrownAgain) -> "ended")
                            .join());
            assertThat(second.get(60, SECONDS)).isEqualTo("ended");
        }
    }

    /** A client that repeats its requests repeats those without a reply, and their numbers must have no gap. */
    @Test
    void repliesHaveTheOrderOfTheRequests() throws Exception {
        Map<Long, CompletableFuture<RaftClientReply>> replies = new ConcurrentHashMap<>();
        CompletableFuture<Void> third = new CompletableFuture<>();
        RaftServer server = server();
        when(server.submitClientRequestAsync(any())).thenAnswer(call -> {
            CompletableFuture<RaftClientReply> reply = new CompletableFuture<>();
            RaftClientRequest request = call.getArgument(0);
            replies.put(request.getCallId(), reply);
            if (request.getCallId() == 3) {
                third.complete(null);
            }
            return reply;
        });
        RaftServerRpc rpc = new RpmaFactory().newRaftServerRpc(server);
        rpc.start();
        List<Long> order = new CopyOnWriteArrayList<>();
        try (Channels channels = Channels.create(RpmaDevice.local(address), new ChannelOptions())) {
            Channel client = channels.connect(address, port);
            List<CompletableFuture<?>> answers = new ArrayList<>();
            for (long number = 1; number <= 3; number++) {
                answers.add(client.request(
                        Wire.message(
                                Call.CLIENT_REQUEST.ordinal(),
                                ClientProtoUtils.toRaftClientRequestProto(request(number))),
                        bytes -> order.add(Wire.parseAnswer(bytes, RaftClientReplyProto.parser())
                                .getRpcReply()
                                .getCallId()),
                        60,
                        SECONDS));
            }
            third.get(60, SECONDS);
            for (long number = 3; number >= 1; number--) {
                RaftClientReply.Builder reply =
                        RaftClientReply.newBuilder().setRequest(request(number)).setSuccess();
                replies.get(number).complete(reply.build());
            }
            for (CompletableFuture<?> answer : answers) {
                answer.get();
            }
            assertThat(order).containsExactly(1L, 2L, 3L);
        } finally {
            rpc.close();
        }
    }

    /** Another server repeats its requests after each timeout, for as long as this one blocks. */
    @Test
    void aServerThatBlocksHasOneThreadForAConnection() throws Exception {
        RaftServer server = server();
        CompletableFuture<Void> end = new CompletableFuture<>();
        when(server.startLeaderElection(any())).thenAnswer(call -> {
            end.join();
            return StartLeaderElectionReplyProto.getDefaultInstance();
        });
        RaftServerRpc rpc = new RpmaFactory().newRaftServerRpc(server);
        rpc.start();
        try (Channels channels = Channels.create(RpmaDevice.local(address), new ChannelOptions())) {
            Channel client = channels.connect(address, port);
            List<CompletableFuture<?>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                answers.add(client.request(
                        Wire.message(
                                Call.START_LEADER_ELECTION.ordinal(),
                                StartLeaderElectionRequestProto.getDefaultInstance()),
                        bytes -> Wire.parseAnswer(bytes, StartLeaderElectionReplyProto.parser()),
                        60,
                        SECONDS));
            }
            // The answer shows that the requests before it have arrived.
            assertThatThrownBy(() -> client.request(
                                    io.rpma.channel.Message.of(ByteBuffer.allocate(0)), bytes -> null, 60, SECONDS)
                            .get())
                    .hasMessageContaining("an unknown call");
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().equals(SERVER + "-rpma"))
                    .hasSize(1);
            end.complete(null);
            for (CompletableFuture<?> answer : answers) {
                answer.get();
            }
        } finally {
            end.complete(null);
            rpc.close();
        }
    }
}
