// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.ratis;

import io.rpma.ratis.RpmaConfigKeys;
import io.rpma.ratis.RpmaRpcType;
import java.util.function.ObjIntConsumer;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.rpc.SupportedRpcType;

/** A transport of Ratis. */
enum Transport {
    RDMA(RpmaRpcType.INSTANCE, RpmaConfigKeys.Server::setPort),
    NETTY(SupportedRpcType.NETTY, NettyConfigKeys.Server::setPort),
    GRPC(SupportedRpcType.GRPC, GrpcConfigKeys.Server::setPort);

    private final RpcType type;
    private final ObjIntConsumer<RaftProperties> port;

    Transport(RpcType type, ObjIntConsumer<RaftProperties> port) {
        this.type = type;
        this.port = port;
    }

    RpcType type() {
        return type;
    }

    void setPort(RaftProperties properties, int value) {
        port.accept(properties, value);
    }
}
