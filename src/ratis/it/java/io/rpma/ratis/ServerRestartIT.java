// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import org.apache.ratis.server.ServerRestartTests;
import org.junit.jupiter.api.Tag;

@Tag("ratis-suite")
class ServerRestartIT extends ServerRestartTests<RpmaCluster> implements RpmaCluster.Get {}
