// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.RetryCacheTests;
import org.junit.jupiter.api.Tag;

@Tag("ratis")
class RetryCacheIT extends RetryCacheTests<RpmaCluster> implements RpmaCluster.Get {}
