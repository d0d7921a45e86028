// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.channel.RequestHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.JavaUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of a server: it answers clients and other servers, and calls other servers. */
final class RpmaServerRpc extends RaftServerRpcWithProxy<Peers.Peer, Peers> implements RaftServerAsynchronousProtocol {
    private static final Logger LOG = LoggerFactory.getLogger(RpmaServerRpc.class);

    /** The place at which Ratis's tests delay calls to other servers. */
    static final String SEND_SERVER_REQUEST = RpmaServerRpc.class.getSimpleName() + ".sendServerRequest";

    private final RaftServer server;
    private final String host;
    private final int port;

    /** The channels that this server listens with and calls with. */
    private final Peers.Source channels;

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, getId() + "-rpma");
        thread.setDaemon(true);
        return thread;
    });

    RpmaServerRpc(RaftServer server) {
        this(server, host(server.getProperties()));
    }

    private RpmaServerRpc(RaftServer server, String host) {
        this(server, host, new Peers.Source(server.getProperties(), address -> RpmaDevice.local(host)));
    }

    private RpmaServerRpc(RaftServer server, String host, Peers.Source channels) {
        super(server::getId, id -> new Peers(id.toString(), server.getProperties(), channels));
        this.server = server;
        this.host = host;
        this.channels = channels;
        port = RpmaConfigKeys.Server.port(server.getProperties());
    }

    /** Returns the configured address, or that of the first active device. */
    private static String host(RaftProperties properties) {
        String configured = RpmaConfigKeys.Server.host(properties);
        if (configured != null && !configured.isEmpty()) {
            return configured;
        }
        return RpmaDevice.list().stream()
                .flatMap(device -> device.addresses().stream())
                .map(InetAddress::getHostAddress)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no active RDMA device: see 'rdma link'"));
    }

    @Override
    public RpcType getRpcType() {
        return RpmaRpcType.INSTANCE;
    }

    @Override
    public InetSocketAddress getInetSocketAddress() {
        return new InetSocketAddress(host, port);
    }

    @Override
    protected void startImpl() throws IOException {
        if (port == 0) {
            throw new IOException("no port: set " + RpmaConfigKeys.Server.PORT_KEY);
        }
        try {
            channels.get(host).listen(host, port, Requests::new);
        } catch (RpmaException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void closeImpl() throws IOException {
        super.closeImpl();
        threads.shutdown();
    }

    /**
     * The requests of a connection. Methods of the server can block and parsing can take long, so another thread does
     * it: one request after the other, because clients rely on their order, and because a server that blocks would have
     * a thread for each request otherwise.
     */
    private final class Requests implements RequestHandler {
        /** The end of the last request. */
        private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

        // of the thread that runs the requests
        private final Clients ofLeader = new Clients();
        private final Clients ofServer = new Clients();

        @Override
        public void handle(ByteBuffer bytes, Answer answer) {
            Call call = bytes.hasRemaining() ? Call.of(bytes.get()) : null;
            if (call == null) {
                answer.refuse("an unknown call");
                return;
            }
            ByteString content = ByteString.copyFrom(bytes);
            last = last.<Void>handleAsync(
                            (nothing, thrown) -> {
                                begin(call, content, answer);
                                return null;
                            },
                            threads)
                    .whenComplete((nothing, thrown) -> {
                        if (thrown != null) {
                            send(answer, null, thrown); // there is no thread for it
                        }
                    });
        }

        /** Answers whatever happens, because the other side waits. */
        private void begin(Call call, ByteString content, Answer answer) {
            try {
                MessageLite request = call.parser().parseFrom(content);
                if (request instanceof RaftClientRequestProto client) {
                    (client.getRpcRequest().getToLeader() ? ofLeader : ofServer).arrived(client, answer);
                } else {
                    reply(call, request).whenComplete((message, thrown) -> send(answer, message, thrown));
                }
            } catch (Throwable e) {
                send(answer, null, e);
            }
        }
    }

    /** The requests of a connection's client, which has two orders of them. */
    private final class Clients {
        private final ClientOrder order = new ClientOrder();
        private CompletableFuture<Void> lastReply = CompletableFuture.completedFuture(null);

        void arrived(RaftClientRequestProto request, RequestHandler.Answer answer) {
            SlidingWindowEntry place = request.getRpcRequest().getSlidingWindowEntry();
            order.arrived(place.getSeqNum(), place.getIsFirst(), new ClientOrder.Request() {
                @Override
                public void submit() {
                    CompletableFuture<? extends MessageLite> reply = reply(Call.CLIENT_REQUEST, request);
                    if (place.getSeqNum() == ClientOrder.NONE) {
                        reply.whenComplete((message, thrown) -> send(answer, message, thrown));
                        return;
                    }
                    // In order: a client that repeats its unanswered requests has no gap in their numbers then.
                    CompletableFuture<Void> before = lastReply;
                    lastReply = reply.handle((message, thrown) -> before.thenRun(() -> send(answer, message, thrown)))
                            .thenCompose(sent -> sent);
                }

                @Override
                public void drop() {
                    send(answer, null, new IOException("the client has repeated the request"));
                }
            });
        }
    }

    private CompletableFuture<? extends MessageLite> reply(Call call, MessageLite request) {
        try {
            return call.answer(server, request);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static void send(RequestHandler.Answer answer, MessageLite message, Throwable thrown) {
        try {
            answer.send(thrown == null ? Wire.message(Wire.REPLY, message) : Wire.exception(thrown));
        } catch (Throwable e) {
            LOG.warn("a reply can't be sent", e);
            refuse(answer, e);
        }
    }

    private static void refuse(RequestHandler.Answer answer, Throwable reason) {
        try {
            answer.refuse("the reply can't be sent: " + reason.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("the client waits for its timeout", e);
        }
    }

    @Override
    public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
        return call(Call.REQUEST_VOTE, request.getServerRequest(), request, RequestVoteReplyProto.parser());
    }

    @Override
    public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) throws IOException {
        return call(Call.APPEND_ENTRIES, request.getServerRequest(), request, AppendEntriesReplyProto.parser());
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) throws IOException {
        return call(Call.INSTALL_SNAPSHOT, request.getServerRequest(), request, InstallSnapshotReplyProto.parser());
    }

    @Override
    public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
            throws IOException {
        return call(
                Call.START_LEADER_ELECTION,
                request.getServerRequest(),
                request,
                StartLeaderElectionReplyProto.parser());
    }

    private <T> T call(Call call, RaftRpcRequestProto header, MessageLite request, Parser<T> replies)
            throws IOException {
        CodeInjectionForTesting.execute(SEND_SERVER_REQUEST, getId(), null, request);
        RaftPeerId id = RaftPeerId.valueOf(header.getReplyId());
        return Peers.await(getProxies().getProxy(id).send(call, request, replies, header.getTimeoutMs()));
    }

    @Override
    public RaftServerAsynchronousProtocol async() {
        return this;
    }

    @Override
    public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(AppendEntriesRequestProto request) {
        return send(Call.APPEND_ENTRIES, request.getServerRequest(), request, AppendEntriesReplyProto.parser());
    }

    @Override
    public CompletableFuture<ReadIndexReplyProto> readIndexAsync(ReadIndexRequestProto request) {
        return send(Call.READ_INDEX, request.getServerRequest(), request, ReadIndexReplyProto.parser());
    }

    private <T> CompletableFuture<T> send(
            Call call, RaftRpcRequestProto header, MessageLite request, Parser<T> replies) {
        CodeInjectionForTesting.execute(SEND_SERVER_REQUEST, getId(), null, request);
        try {
            RaftPeerId id = RaftPeerId.valueOf(header.getReplyId());
            // In another thread, because Ratis's actions can block.
            return getProxies()
                    .getProxy(id)
                    .send(call, request, replies, header.getTimeoutMs())
                    .whenCompleteAsync((reply, thrown) -> {}, threads);
        } catch (IOException e) {
            return JavaUtils.completeExceptionally(e);
        }
    }
}
