// SPDX-License-Identifier: BSD-3-Clause
/** Measures Apache Ratis over RDMA beside its own transports over TCP. */
package io.rpma.bench.ratis;
