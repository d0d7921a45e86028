// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.statemachine.RaftSnapshotBaseTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis")
class RaftSnapshotIT extends RaftSnapshotBaseTest<RpmaCluster> implements RpmaCluster.Get {}
