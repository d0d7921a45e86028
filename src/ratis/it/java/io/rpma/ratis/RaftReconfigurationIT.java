// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.RaftReconfigurationBaseTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class RaftReconfigurationIT extends RaftReconfigurationBaseTest<RpmaCluster> implements RpmaCluster.Get {}
