// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import io.rpma.RpmaDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.client.impl.RaftClientRpcWithProxy;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupInfoRequest;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.util.JavaUtils;

/** The end of a client. */
final class RpmaClientRpc extends RaftClientRpcWithProxy<Peers.Peer> {
    RpmaClientRpc(ClientId id, RaftProperties properties) {
        super(new Peers(id.toString(), properties, new Peers.Source(properties, RpmaDevice::remote)));
    }

    @Override
    public CompletableFuture<RaftClientReply> sendRequestAsync(RaftClientRequest request) {
        try {
            // In another thread, because the actions of Ratis and the user can block.
            return send(request).handleAsync(RpmaClientRpc::checked);
        } catch (IOException | RuntimeException e) {
            return JavaUtils.completeExceptionally(e);
        }
    }

    private static RaftClientReply checked(RaftClientReply reply, Throwable thrown) {
        if (thrown != null) {
            throw new CompletionException(Peers.toIOException(thrown));
        }
        IOException refused = reply.getNotLeaderException();
        if (refused == null) {
            refused = reply.getLeaderNotReadyException();
        }
        if (refused != null) {
            throw new CompletionException(refused);
        }
        return reply;
    }

    @Override
    public CompletableFuture<RaftClientReply> sendRequestAsyncUnordered(RaftClientRequest request) {
        return sendRequestAsync(request);
    }

    @Override
    public RaftClientReply sendRequest(RaftClientRequest request) throws IOException {
        return Peers.await(send(request));
    }

    private CompletableFuture<RaftClientReply> send(RaftClientRequest request) throws IOException {
        if (request instanceof GroupListRequest list) {
            return send(
                    request,
                    Call.GROUP_LIST,
                    ClientProtoUtils.toGroupListRequestProto(list),
                    GroupListReplyProto.parser(),
                    ClientProtoUtils::toGroupListReply);
        }
        if (request instanceof GroupInfoRequest info) {
            return send(
                    request,
                    Call.GROUP_INFO,
                    ClientProtoUtils.toGroupInfoRequestProto(info),
                    GroupInfoReplyProto.parser(),
                    ClientProtoUtils::toGroupInfoReply);
        }
        Call call;
        MessageLite content;
        if (request instanceof GroupManagementRequest management) {
            call = Call.GROUP_MANAGEMENT;
            content = ClientProtoUtils.toGroupManagementRequestProto(management);
        } else if (request instanceof SetConfigurationRequest configuration) {
            call = Call.SET_CONFIGURATION;
            content = ClientProtoUtils.toSetConfigurationRequestProto(configuration);
        } else if (request instanceof TransferLeadershipRequest transfer) {
            call = Call.TRANSFER_LEADERSHIP;
            content = ClientProtoUtils.toTransferLeadershipRequestProto(transfer);
        } else if (request instanceof SnapshotManagementRequest snapshot) {
            call = Call.SNAPSHOT_MANAGEMENT;
            content = ClientProtoUtils.toSnapshotManagementRequestProto(snapshot);
        } else if (request instanceof LeaderElectionManagementRequest election) {
            call = Call.LEADER_ELECTION_MANAGEMENT;
            content = ClientProtoUtils.toLeaderElectionManagementRequestProto(election);
        } else {
            call = Call.CLIENT_REQUEST;
            content = ClientProtoUtils.toRaftClientRequestProto(request);
        }
        return send(request, call, content, RaftClientReplyProto.parser(), ClientProtoUtils::toRaftClientReply);
    }

    private <T> CompletableFuture<RaftClientReply> send(
            RaftClientRequest request,
            Call call,
            MessageLite content,
            Parser<T> replies,
            Function<T, RaftClientReply> toReply)
            throws IOException {
        return getProxies()
                .getProxy(request.getServerId())
                .send(call, content, replies, request.getTimeoutMs())
                .thenApply(toReply);
    }
}
