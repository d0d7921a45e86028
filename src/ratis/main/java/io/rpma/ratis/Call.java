// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import static java.util.concurrent.CompletableFuture.completedFuture;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupListRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LeaderElectionManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SetConfigurationRequestProto;
import org.apache.ratis.proto.RaftProtos.SnapshotManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TransferLeadershipRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/** The calls of a server: the first byte of a request is the number of its call. */
enum Call {
    REQUEST_VOTE(RequestVoteRequestProto.parser(), (server, request) -> completedFuture(server.requestVote(request))),
    APPEND_ENTRIES(AppendEntriesRequestProto.parser(), RaftServer::appendEntriesAsync),
    READ_INDEX(ReadIndexRequestProto.parser(), RaftServer::readIndexAsync),
    INSTALL_SNAPSHOT(
            InstallSnapshotRequestProto.parser(),
            (server, request) -> completedFuture(server.installSnapshot(request))),
    START_LEADER_ELECTION(
            StartLeaderElectionRequestProto.parser(),
            (server, request) -> completedFuture(server.startLeaderElection(request))),
    CLIENT_REQUEST(
            RaftClientRequestProto.parser(),
            (server, request) -> reply(server.submitClientRequestAsync(ClientProtoUtils.toRaftClientRequest(request)))),
    SET_CONFIGURATION(
            SetConfigurationRequestProto.parser(),
            (server, request) ->
                    reply(server.setConfigurationAsync(ClientProtoUtils.toSetConfigurationRequest(request)))),
    GROUP_MANAGEMENT(
            GroupManagementRequestProto.parser(),
            (server, request) ->
                    reply(server.groupManagementAsync(ClientProtoUtils.toGroupManagementRequest(request)))),
    GROUP_LIST(
            GroupListRequestProto.parser(),
            (server, request) -> server.getGroupListAsync(ClientProtoUtils.toGroupListRequest(request))
                    .thenApply(ClientProtoUtils::toGroupListReplyProto)),
    GROUP_INFO(
            GroupInfoRequestProto.parser(),
            (server, request) -> server.getGroupInfoAsync(ClientProtoUtils.toGroupInfoRequest(request))
                    .thenApply(ClientProtoUtils::toGroupInfoReplyProto)),
    TRANSFER_LEADERSHIP(
            TransferLeadershipRequestProto.parser(),
            (server, request) ->
                    reply(server.transferLeadershipAsync(ClientProtoUtils.toTransferLeadershipRequest(request)))),
    SNAPSHOT_MANAGEMENT(
            SnapshotManagementRequestProto.parser(),
            (server, request) ->
                    reply(server.snapshotManagementAsync(ClientProtoUtils.toSnapshotManagementRequest(request)))),
    LEADER_ELECTION_MANAGEMENT(
            LeaderElectionManagementRequestProto.parser(),
            (server, request) -> reply(
                    server.leaderElectionManagementAsync(ClientProtoUtils.toLeaderElectionManagementRequest(request))));

    private static final Call[] CALLS = values();

    private final Parser<? extends MessageLite> parser;
    private final Method<MessageLite> method;

    /** The method of the server for a call. */
    private interface Method<T> {
        CompletableFuture<? extends MessageLite> apply(RaftServer server, T request) throws IOException;
    }

    @SuppressWarnings("unchecked")
    <T extends MessageLite> Call(Parser<T> parser, Method<T> method) {
        this.parser = parser;
        this.method = (Method<MessageLite>) method;
    }

    private static CompletableFuture<? extends MessageLite> reply(CompletableFuture<RaftClientReply> reply) {
        return reply.thenApply(ClientProtoUtils::toRaftClientReplyProto);
    }

    /** Returns the call with a number; null if there is none. */
    static Call of(int number) {
        return number < 0 || number >= CALLS.length ? null : CALLS[number];
    }

    /** Returns the parser of the requests. */
    Parser<? extends MessageLite> parser() {
        return parser;
    }

    /** Makes the server answer. */
    CompletableFuture<? extends MessageLite> answer(RaftServer server, MessageLite request) throws IOException {
        return method.apply(server, request);
    }
}
