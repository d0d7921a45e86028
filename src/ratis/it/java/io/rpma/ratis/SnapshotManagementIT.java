// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.statemachine.SnapshotManagementTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class SnapshotManagementIT extends SnapshotManagementTest<RpmaCluster> implements RpmaCluster.Get {}
