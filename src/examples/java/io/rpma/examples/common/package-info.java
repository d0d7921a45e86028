/**
 * What the examples share: their command lines, finding and offering memory, and a connection that stores and commits.
 *
 * <p>{@link io.rpma.examples.common.MemoryServer} offers memory, {@link io.rpma.examples.common.RemoteConnection} connects to
 * it, and {@link io.rpma.examples.common.RemoteMemory} has the RDMA operations on it.
 */
package io.rpma.examples.common;
