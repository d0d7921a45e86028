// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.LogAppenderTests;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class LogAppenderIT extends LogAppenderTests<RpmaCluster> implements RpmaCluster.Get {}
