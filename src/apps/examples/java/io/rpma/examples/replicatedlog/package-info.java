// SPDX-License-Identifier: BSD-3-Clause
/**
 * A replicated append-only log on persistent memory.
 *
 * <p>{@link io.rpma.examples.replicatedlog.ReplicatedLog} is the command line program. Read it in this order:
 * {@code LogLayout} (the layout of the memory), {@code LogReader}, {@code Recovery} (makes two replicas equal),
 * {@code LogAppender} (appends records to both replicas), {@code Appender} (connects again after each loss),
 * {@code ReplicaServer}. The first four do not use the network.
 */
package io.rpma.examples.replicatedlog;
