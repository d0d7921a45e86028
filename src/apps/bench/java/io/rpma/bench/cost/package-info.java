// SPDX-License-Identifier: BSD-3-Clause
/**
 * The cost of the binding: calls of a librpma and a librdmacm that do nothing, through the library and from C.
 *
 * <p>The C side is {@code src/apps/bench/c/cost.c}; {@link io.rpma.bench.cost.Cost} and {@link io.rpma.bench.cost.Threads}
 * run both.
 */
package io.rpma.bench.cost;
