// SPDX-License-Identifier: BSD-3-Clause
/**
 * The benchmarks: Java beside C, on the same machine in the same run.
 *
 * <p>{@link io.rpma.bench.Bench} is the command line. A suite measures in rounds: C, Java, and C again. It writes a
 * {@link io.rpma.bench.Report} with all {@link io.rpma.bench.Result}s and {@link io.rpma.bench.Target}s.
 */
package io.rpma.bench;
