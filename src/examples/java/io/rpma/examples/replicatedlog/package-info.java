/**
 * A replicated append-only log on persistent memory.
 *
 * <p>{@link io.rpma.examples.replicatedlog.ReplicatedLog} is the command line program. Read it in this order: {@code
 * LogLayout} (what is where in the memory), {@code LogReader}, {@code Recovery} (how two replicas become the same again),
 * {@code LogAppender} (how records get into both), {@code Appender} (connections that come and go), {@code ReplicaServer}.
 * The first four know nothing of the network.
 */
package io.rpma.examples.replicatedlog;
