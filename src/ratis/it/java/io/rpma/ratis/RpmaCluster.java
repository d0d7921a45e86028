// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import io.rpma.RpmaDevice;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.RaftTestUtil;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.impl.DelayLocalExecutionInjection;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.apache.ratis.util.NetUtils;

/** A cluster of Ratis's tests, over RDMA. */
final class RpmaCluster extends MiniRaftCluster.RpcBase {
    private static final DelayLocalExecutionInjection DELAY =
            new DelayLocalExecutionInjection(RpmaServerRpc.SEND_SERVER_REQUEST);

    private static final String ADDRESS = address();

    /** Makes the clusters of a test. */
    interface Get extends Factory.Get<RpmaCluster> {
        /** Makes clusters. */
        Factory<RpmaCluster> FACTORY = new Factory<>() {
            @Override
            public RpmaCluster newCluster(String[] ids, String[] listenerIds, RaftProperties properties) {
                RaftConfigKeys.Rpc.setType(properties, RpmaRpcType.INSTANCE);
                return new RpmaCluster(ids, listenerIds, properties);
            }
        };

        /** The properties of each class of tests, which changes them. */
        Map<Class<?>, RaftProperties> PROPERTIES_OF = new ConcurrentHashMap<>();

        @Override
        default Factory<RpmaCluster> getFactory() {
            return FACTORY;
        }

        @Override
        default RaftProperties getProperties() {
            return PROPERTIES_OF.computeIfAbsent(getClass(), tests -> new RaftProperties());
        }
    }

    private RpmaCluster(String[] ids, String[] listenerIds, RaftProperties properties) {
        super(ids, listenerIds, properties, null);
    }

    private static String address() {
        String address = System.getenv("RPMA_ADDRESS");
        if (address == null) {
            address = RpmaDevice.list().stream()
                    .flatMap(device -> device.addresses().stream())
                    .map(InetAddress::getHostAddress)
                    .findFirst()
                    .orElseThrow();
        }
        // the addresses of Ratis's clusters have this name
        NetUtils.StaticResolution.put(NetUtils.LOCALHOST, address);
        return address;
    }

    /** Clears what a test has injected. */
    static void clearDelay() {
        DELAY.clear();
    }

    @Override
    protected Parameters setPropertiesAndInitParameters(RaftPeerId id, RaftGroup group, RaftProperties properties) {
        RpmaConfigKeys.Server.setHost(properties, ADDRESS);
        RpmaConfigKeys.Server.setPort(properties, getPort(id, group));
        return null;
    }

    @Override
    protected void blockQueueAndSetDelay(String leaderId, int delayMs) throws InterruptedException {
        RaftTestUtil.blockQueueAndSetDelay(getServers(), DELAY, leaderId, delayMs, getTimeoutMax());
    }
}
