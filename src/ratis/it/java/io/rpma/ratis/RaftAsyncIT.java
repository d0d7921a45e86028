// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.RaftAsyncTests;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ratis-suite")
class RaftAsyncIT extends RaftAsyncTests<RpmaCluster> implements RpmaCluster.Get {
    /** It can restart a server while it compares the logs. Ratis calls the whole class flaky for its Netty transport. */
    @Override
    @Tag("flaky")
    @Test
    public void testWithLoadAsync() throws Exception {
        super.testWithLoadAsync();
    }
}
