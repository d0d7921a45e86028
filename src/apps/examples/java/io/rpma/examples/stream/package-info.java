// SPDX-License-Identifier: BSD-3-Clause
/**
 * A stream of bytes through RDMA, beside a stream through TCP.
 *
 * <p>{@link io.rpma.examples.stream.Stream} is the command line program. Read it in this order: {@code Ring} (the
 * positions in the rings of both ends), {@code StreamWriter}, {@code StreamReader}, {@code Link} (the waits, and the
 * loss of the other end), {@code Client} and {@code Server} (copy bytes in place), {@code TcpWriter} and
 * {@code TcpReader}.
 */
package io.rpma.examples.stream;
