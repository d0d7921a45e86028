/**
 * The benchmarks: Java beside C, on the same machine in the same run.
 *
 * <p>{@link io.rpma.bench.Bench} is the command line. A suite measures in rounds, C and Java in turn and C once more, and
 * makes a {@link io.rpma.bench.Report}: each {@link io.rpma.bench.Result}, and each {@link io.rpma.bench.Target} with
 * whether it is met.
 */
package io.rpma.bench;
