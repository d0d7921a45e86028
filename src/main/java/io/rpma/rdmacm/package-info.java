/**
 * librdmacm's own verbs, for what librpma leaves out: inline data, operations on several parts of memory, the other side's
 * address and key as plain numbers, atomics, datagrams, and peers that speak RDMA CM and nothing more.
 *
 * <p>It makes the same promises as {@link io.rpma}: what librdmacm does under librdmacm's names, no crash whatever is called
 * in any order from any thread, one downcall without allocation for each post and poll, and Java's habits where they cost
 * nothing. It shares {@link io.rpma.RpmaMemory}, {@link io.rpma.RpmaCompletions} and {@link io.rpma.RpmaException}, which
 * has the system's error here: {@link io.rpma.RpmaException#errno}.
 *
 * <p><b>Start.</b> {@link io.rpma.rdmacm.RdmaId} connects, or listens. It has a {@link io.rpma.rdmacm.RdmaQp} to post
 * operations with, on memory that is registered as a {@link io.rpma.rdmacm.RdmaMr}.
 *
 * <p><b>Life, threads.</b> As in {@link io.rpma}: what has {@code close()} has to be closed, children before parents, and
 * may be at any time; all classes are safe for use by many threads, except {@link io.rpma.rdmacm.RdmaSgeList},
 * {@link io.rpma.rdmacm.RdmaInlineData} and the plain objects that hold parameters. Waits have a form with a timeout, and
 * are ended by {@code close()} and by {@link java.lang.Thread#interrupt()}. Two block inside of librdmacm
 * instead, and nothing ends them: {@link io.rpma.rdmacm.RdmaId#createEp} for at most 2 seconds each for the address and
 * the route, and the making of an {@link io.rpma.rdmacm.RdmaAddrInfo} for the resolution of a host name.
 *
 * <p>Manual pages: rdma_cm(7), and those of each class.
 */
package io.rpma.rdmacm;
