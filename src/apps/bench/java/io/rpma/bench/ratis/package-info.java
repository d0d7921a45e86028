// SPDX-License-Identifier: BSD-3-Clause
/** Measures Apache Ratis over RDMA and over its own transports. */
package io.rpma.bench.ratis;
