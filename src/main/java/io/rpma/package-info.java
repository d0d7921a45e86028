// SPDX-License-Identifier: BSD-3-Clause
/**
 * Remote direct memory access to volatile and persistent memory: a thin binding of librpma 1.3.0.
 *
 * <p>In order of importance, this library
 *
 * <ol>
 *   <li>behaves as librpma does and uses librpma's names, so that
 *       <a href="https://pmem.io/rpma/manpages/v1.3.0/librpma.7">its manual pages</a> remain the reference;
 *   <li>never crashes the JVM, and never accesses memory that the program did not give to it, whatever calls the
 *       program makes, in any order and from any thread. Invalid arguments, closed objects and ranges outside a region
 *       are refused in Java or detected in C. This promise holds for the exported packages {@code io.rpma} and
 *       {@code io.rpma.rdmacm}. It does not hold for {@code io.rpma.internal};
 *   <li>is as fast as C: a post, a poll and a whole {@linkplain io.rpma.RpmaBatch batch} of posts are one downcall
 *       each, and allocate nothing;
 *   <li>follows the conventions of Java if that costs nothing.
 * </ol>
 *
 * <p><b>Start.</b> {@link io.rpma.RpmaDevice} finds the device. {@link io.rpma.RpmaPeer} opens it and registers memory.
 * One side listens ({@link io.rpma.RpmaEp}), and the other side asks to connect ({@link io.rpma.RpmaConnReq}). Each
 * side gets an {@link io.rpma.RpmaConn}, which posts operations. Its {@link io.rpma.RpmaCq} reports their completions.
 * An {@link io.rpma.RpmaMemoryPool} gives out the buffers of a registered memory.
 *
 * <p><b>Life.</b> The program closes each object that has {@code close()}, children before parents: a parent refuses to
 * close before its children. A close is legal in every state and from every thread. It has no effect if the object is
 * already closed, and waits while another thread closes it. An object that becomes unreachable without a close is
 * reported to the logger and is not freed. With {@code -Dio.rpma.leakSites=true} the report has the place where the
 * object was created.
 *
 * <p><b>Threads.</b> All classes are safe for use by many threads, except {@link io.rpma.RpmaCompletions} and
 * {@link io.rpma.RpmaBatch}, which only one thread at a time may use. Each wait has a variant with a timeout.
 * {@code close()} and {@link java.lang.Thread#interrupt()} end waits. A platform thread that waits uses a file
 * descriptor, which the library keeps for later waits. The first such wait for an object opens a further descriptor,
 * which stays open until the object is closed. One thread can serve many connections by an
 * {@link io.rpma.RpmaEventLoop}.
 *
 * <p>A virtual thread that waits is parked and releases its carrier. Calls that block in the kernel occupy the carrier:
 * resolutions ({@link io.rpma.RpmaConnReq#create}, {@link io.rpma.RpmaDevice}, host names of
 * {@link io.rpma.RpmaEp#listen}), the registration of much memory, and the close of a connection to a dead host.
 *
 * <p><b>Errors.</b> Invalid arguments raise {@link java.lang.IllegalArgumentException},
 * {@link java.lang.NullPointerException} or {@link java.lang.IndexOutOfBoundsException}. Closed objects raise
 * {@link java.lang.IllegalStateException}. In all these cases the operation has no effect. A failure of librpma raises
 * {@link io.rpma.RpmaException} with the messages that librpma logged. A full queue, a missing event and a missing
 * completion are results and not errors. A call that needs the native library throws
 * {@link java.lang.UnsatisfiedLinkError} if the library can't be loaded.
 *
 * <p><b>Log.</b> A thread of the library delivers librpma's other messages to the {@link java.lang.System.Logger}
 * {@code io.rpma}, or to a function: see {@link io.rpma.RpmaLog}.
 *
 * <p><b>Native access.</b> From JDK 24 on, start Java with {@code --enable-native-access=ALL-UNNAMED}, or with
 * {@code =io.rpma} if the library is on the module path.
 */
package io.rpma;
