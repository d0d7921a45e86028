// SPDX-License-Identifier: BSD-3-Clause
/**
 * An example to start from.
 *
 * <p>{@link io.rpma.examples.replicate.Replicate} is a command line program that replicates a file into another host's
 * persistent memory. Read it in this order: {@code Layout} (the layout of the memory), {@code Receiver}, {@link
 * io.rpma.support.Offer} (the description of the memory for the sender), {@link
 * io.rpma.support.RemoteConnection}, {@code Sender}, {@code Transfer} (the RDMA operations).
 */
package io.rpma.examples.replicate;
