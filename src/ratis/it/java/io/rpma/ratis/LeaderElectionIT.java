// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.BlockRequestHandlingInjection;
import org.apache.ratis.server.impl.LeaderElectionTests;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ratis")
class LeaderElectionIT extends LeaderElectionTests<RpmaCluster> implements RpmaCluster.Get {
    @Override
    @Test
    public void testEnforceLeader() throws Exception {
        super.testEnforceLeader();
        RpmaCluster.clearDelay();
        BlockRequestHandlingInjection.getInstance().unblockAll();
    }

    @Override
    @Test
    public void testDisconnectLeader() throws Exception {
        super.testDisconnectLeader();
    }

    /** A leader loses its lease if a busy processor lets its heartbeats wait. */
    @Override
    @Tag("ratis-suite")
    @Test
    public void testLeaderLease() throws Exception {
        super.testLeaderLease();
    }
}
