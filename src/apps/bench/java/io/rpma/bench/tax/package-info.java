// SPDX-License-Identifier: BSD-3-Clause
/**
 * The cost of the binding: calls of a librpma and a librdmacm that do nothing, through the library and from C.
 *
 * <p>The C side is {@code src/apps/bench/c/tax.c}; {@link io.rpma.bench.tax.Tax} and {@link io.rpma.bench.tax.Threads}
 * run both.
 */
package io.rpma.bench.tax;
