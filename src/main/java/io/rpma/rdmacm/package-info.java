// SPDX-License-Identifier: BSD-3-Clause
/**
 * The verbs of librdmacm, for features that librpma lacks: inline data, operations on several parts of memory, remote
 * addresses and keys as plain numbers, atomics, datagrams, and peers that use RDMA CM without librpma.
 *
 * <p>This package makes the same promises as {@link io.rpma}: it does what librdmacm does, under the names of
 * librdmacm; it never crashes the JVM, whatever is called, in any order, from any thread; each post, each poll and each
 * whole {@linkplain io.rpma.rdmacm.RdmaBatch batch} of posts is one downcall without an allocation; and it follows
 * Java's conventions where they cost nothing. It shares {@link io.rpma.RpmaMemory}, {@link io.rpma.RpmaCompletions} and
 * {@link io.rpma.RpmaException} with {@code io.rpma}. Its exceptions report the error of the system:
 * {@link io.rpma.RpmaException#errno}.
 *
 * <p><b>Start.</b> {@link io.rpma.rdmacm.RdmaId} connects or listens. Its {@link io.rpma.rdmacm.RdmaQp} posts
 * operations on memory that is registered as an {@link io.rpma.rdmacm.RdmaMr}.
 *
 * <p><b>Life and threads.</b> The rules of {@link io.rpma} apply. Each object with a {@code close()} must be closed,
 * children before their parents. A close is legal in every state and from every thread. All classes are safe for use by
 * many threads, except {@link io.rpma.rdmacm.RdmaBatch}, {@link io.rpma.rdmacm.RdmaPreparedBatch},
 * {@link io.rpma.rdmacm.RdmaSgeList}, {@link io.rpma.rdmacm.RdmaInlineData} and the classes of parameters. Each wait
 * has a variant with a timeout. {@code close()} and {@link java.lang.Thread#interrupt()} end waits. Nothing ends these
 * calls early: {@link io.rpma.rdmacm.RdmaId#createEp}, which takes at most 2 seconds for the address and 2 seconds for
 * the route; {@link io.rpma.rdmacm.RdmaAddrInfo#active} and {@link io.rpma.rdmacm.RdmaAddrInfo#passive} while they
 * resolve a host name; the registration of much memory; and {@link io.rpma.rdmacm.RdmaId#close} of a connection to a
 * dead host.
 *
 * <p>Manual page: rdma_cm(7). Each class names its own manual pages.
 */
package io.rpma.rdmacm;
