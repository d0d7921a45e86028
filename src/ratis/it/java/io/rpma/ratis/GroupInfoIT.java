// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.GroupInfoBaseTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class GroupInfoIT extends GroupInfoBaseTest<RpmaCluster> implements RpmaCluster.Get {}
