// SPDX-License-Identifier: BSD-3-Clause
/**
 * Apache Ratis over RDMA: {@code raft.rpc.type=io.rpma.ratis.RpmaRpcType}.
 *
 * <p>{@link io.rpma.ratis.RpmaConfigKeys} lists the properties, and docs/ratis.md is the manual.
 */
package io.rpma.ratis;
