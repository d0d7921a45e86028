// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.GroupManagementBaseTest;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class GroupManagementIT extends GroupManagementBaseTest {
    @Override
    public MiniRaftCluster.Factory<? extends MiniRaftCluster> getClusterFactory() {
        return RpmaCluster.Get.FACTORY;
    }
}
