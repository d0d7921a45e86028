// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.RaftExceptionBaseTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class RaftExceptionIT extends RaftExceptionBaseTest<RpmaCluster> implements RpmaCluster.Get {}
