// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.impl.ServerPauseResumeTest;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class ServerPauseResumeIT extends ServerPauseResumeTest<RpmaCluster> implements RpmaCluster.Get {}
