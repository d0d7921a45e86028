// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.RaftStateMachineExceptionTests;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class RaftStateMachineExceptionIT extends RaftStateMachineExceptionTests<RpmaCluster> implements RpmaCluster.Get {}
