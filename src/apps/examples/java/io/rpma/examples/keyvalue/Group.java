// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import io.rpma.ratis.RpmaConfigKeys;
import io.rpma.ratis.RpmaRpcType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.TimeDuration;

/** The servers of a store. */
record Group(List<RaftPeer> servers) {
    private static final RaftGroupId ID =
            RaftGroupId.valueOf(UUID.nameUUIDFromBytes("key-value".getBytes(StandardCharsets.UTF_8)));

    /** The time without a leader until an election, once to twice: longer than a server waits for a busy processor. */
    private static final TimeDuration ELECTION = TimeDuration.valueOf(1, TimeUnit.SECONDS);

    private static final TimeDuration RETRY_PAUSE = TimeDuration.valueOf(100, TimeUnit.MILLISECONDS);

    /**
     * Parses the option of the programs.
     *
     * @param servers ID=ADDRESS:PORT of each server, divided by commas
     * @throws IllegalArgumentException if it is not of this form
     */
    static Group parse(String servers) {
        List<RaftPeer> peers = new ArrayList<>();
        for (String server : servers.split(",")) {
            int end = server.indexOf('=');
            if (end < 1 || server.lastIndexOf(':') < end + 2) {
                throw new IllegalArgumentException("a server is ID=ADDRESS:PORT, not '" + server + "'");
            }
            peers.add(RaftPeer.newBuilder()
                    .setId(server.substring(0, end))
                    .setAddress(server.substring(end + 1))
                    .build());
        }
        return new Group(peers);
    }

    private RaftGroup group() {
        return RaftGroup.valueOf(ID, servers);
    }

    private static RaftProperties properties() {
        RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, RpmaRpcType.INSTANCE);
        return properties;
    }

    /**
     * Makes a server, which continues with what its directory has.
     *
     * @throws IllegalArgumentException if the group has no server with this id
     */
    RaftServer server(String id, Path directory) throws IOException {
        RaftPeer self = servers.stream()
                .filter(server -> server.getId().toString().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no server '" + id + "' in " + servers));
        String address = self.getAddress();
        int colon = address.lastIndexOf(':');
        RaftProperties properties = properties();
        RpmaConfigKeys.Server.setHost(properties, address.substring(0, colon));
        RpmaConfigKeys.Server.setPort(properties, Integer.parseInt(address.substring(colon + 1)));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION.multiply(2));
        RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
        return RaftServer.newBuilder()
                .setServerId(RaftPeerId.valueOf(id))
                .setGroup(group())
                .setProperties(properties)
                .setStateMachine(new Store())
                .setOption(RaftStorage.StartupOption.RECOVER)
                .build();
    }

    /** Makes a client, which repeats a command until it is acknowledged. */
    RaftClient client() {
        return RaftClient.newBuilder()
                .setRaftGroup(group())
                .setProperties(properties())
                .setRetryPolicy(RetryPolicies.retryForeverWithSleep(RETRY_PAUSE))
                .build();
    }
}
