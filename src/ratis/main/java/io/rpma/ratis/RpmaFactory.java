// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.client.ClientFactory;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** Makes the ends of servers and clients. */
final class RpmaFactory implements ServerFactory, ClientFactory {
    @Override
    public RpcType getRpcType() {
        return RpmaRpcType.INSTANCE;
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
        return new RpmaServerRpc(server);
    }

    @Override
    public RaftClientRpc newRaftClientRpc(ClientId clientId, RaftProperties properties) {
        return new RpmaClientRpc(clientId, properties);
    }
}
