// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.ratis;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** Three servers and a client in this JVM. */
final class Cluster implements AutoCloseable {
    private static final int SERVERS = 3;

    /** A busy processor must not cause an election. */
    private static final TimeDuration ELECTION = TimeDuration.valueOf(2, TimeUnit.SECONDS);

    private final List<RaftServer> servers = new ArrayList<>();
    private final RaftClient client;

    /** A state machine without a state. */
    private static final class Nothing extends BaseStateMachine {
        @Override
        public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
            updateLastAppliedTermIndex(
                    transaction.getLogEntry().getTerm(),
                    transaction.getLogEntry().getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }

    /**
     * Starts the servers.
     *
     * @param port the first of the ports
     * @param onDisk whether the logs are on disk, and not only in memory
     * @param storage the directory of the servers
     */
    Cluster(Transport transport, String address, int port, boolean onDisk, Path storage) throws IOException {
        List<RaftPeer> peers = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            peers.add(RaftPeer.newBuilder()
                    .setId("s" + i)
                    .setAddress(address + ":" + (port + i))
                    .build());
        }
        RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (int i = 0; i < SERVERS; i++) {
            RaftProperties properties = properties(transport);
            transport.setPort(properties, port + i);
            RaftServerConfigKeys.Log.setUseMemory(properties, !onDisk);
            RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf("64MB"));
            RaftServerConfigKeys.setStorageDir(
                    properties, List.of(storage.resolve("s" + i).toFile()));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION);
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION.multiply(2));
            RaftServer server = RaftServer.newBuilder()
                    .setServerId(peers.get(i).getId())
                    .setGroup(group)
                    .setProperties(properties)
                    .setStateMachine(new Nothing())
                    .build();
            servers.add(server);
            server.start();
        }
        client = RaftClient.newBuilder()
                .setRaftGroup(group)
                .setProperties(properties(transport))
                .setRetryPolicy(RetryPolicies.retryForeverWithSleep(TimeDuration.valueOf(100, TimeUnit.MILLISECONDS)))
                .build();
    }

    private static RaftProperties properties(Transport transport) {
        RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, transport.type());
        return properties;
    }

    RaftClient client() {
        return client;
    }

    @Override
    public void close() throws IOException {
        client.close();
        for (RaftServer server : servers) {
            server.close();
        }
    }
}
