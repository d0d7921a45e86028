// SPDX-License-Identifier: BSD-3-Clause
/**
 * A copy of a stream of bytes, by requests and answers of {@link io.rpma.channel}.
 *
 * <p>{@link io.rpma.examples.stream.Stream} is the command line program. {@code Client} sends the bytes in blocks, and
 * {@code Server} answers each block when it is written.
 *
 * <p>A request has the position of a block in the stream, and the bytes of the block. A request without bytes ends the
 * stream: its position is the number of all bytes. The position tells a server that it has not all bytes before it, for
 * example because it was started while the client sent to another one. The first request has neither, and is answered
 * when the output is open.
 */
package io.rpma.examples.stream;
