// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.RaftAsyncTests;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class RaftAsyncIT extends RaftAsyncTests<RpmaCluster> implements RpmaCluster.Get {}
