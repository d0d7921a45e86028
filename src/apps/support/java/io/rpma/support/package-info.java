// SPDX-License-Identifier: BSD-3-Clause
/**
 * The common code of the examples, tools and benchmarks: command lines, offered memory, and connections that store and
 * commit.
 *
 * <p>{@link io.rpma.support.MemoryServer} offers memory. {@link io.rpma.support.RemoteConnection} connects to it.
 * {@link io.rpma.support.RemoteMemory} has the RDMA operations on it.
 */
package io.rpma.support;
