// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.RaftBasicTests;
import org.apache.ratis.server.impl.BlockRequestHandlingInjection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ratis")
class RaftBasicIT extends RaftBasicTests<RpmaCluster> implements RpmaCluster.Get {
    @Override
    @Tag("ratis-suite")
    @Test
    public void testWithLoad() throws Exception {
        super.testWithLoad();
        BlockRequestHandlingInjection.getInstance().unblockAll();
    }
}
