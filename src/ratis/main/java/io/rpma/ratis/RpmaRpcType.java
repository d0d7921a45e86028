// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;

/** Selects RDMA as the transport: see {@code raft.rpc.type}. */
public final class RpmaRpcType implements RpcType {
    /** The type, for {@link org.apache.ratis.RaftConfigKeys.Rpc#setType}. */
    public static final RpmaRpcType INSTANCE = new RpmaRpcType();

    /** Creates the type; Ratis calls this. */
    public RpmaRpcType() {
        // without state
    }

    /** {@return the name of this class, by which Ratis finds it} */
    @Override
    public String name() {
        return RpmaRpcType.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
        return new RpmaFactory();
    }

    @Override
    public String toString() {
        return "RPMA";
    }
}
