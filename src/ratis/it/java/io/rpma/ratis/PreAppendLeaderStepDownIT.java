// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.PreAppendLeaderStepDownTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class PreAppendLeaderStepDownIT extends PreAppendLeaderStepDownTest<RpmaCluster> implements RpmaCluster.Get {}
