/**
 * An example to start from.
 *
 * <p>{@link io.rpma.examples.replicate.Replicate} is a command line program that replicates a file into another host's
 * persistent memory. Read it in this order: {@code Layout} (what is where in the memory), {@code Receiver}, {@link
 * io.rpma.examples.common.Offer} (how the sender learns of the memory), {@link io.rpma.examples.common.RemoteConnection},
 * {@code Sender}, {@code Transfer} (the RDMA operations).
 */
package io.rpma.examples.replicate;
