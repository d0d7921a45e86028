/**
 * A stream of bytes through RDMA.
 *
 * <p>{@link io.rpma.examples.stream.Stream} has the command line, {@link io.rpma.examples.stream.StreamWriter} and
 * {@link io.rpma.examples.stream.StreamReader} are the two ends of the stream. {@link io.rpma.examples.stream.Ring} has the
 * arithmetic of both ends, and {@link io.rpma.examples.stream.Link} the connection.
 */
package io.rpma.examples.stream;
