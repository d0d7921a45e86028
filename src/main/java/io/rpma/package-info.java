/**
 * Remote direct memory access, to volatile and persistent memory: a thin binding of librpma 1.3.0.
 *
 * <p>In order of importance, it
 *
 * <ol>
 *   <li>does what librpma does, under librpma's names, so that
 *       <a href="https://pmem.io/rpma/manpages/v1.3.0/librpma.7">its manual pages</a> stay the reference;
 *   <li>never crashes the JVM and never touches memory that was not given to it, whatever is called, in any order, from
 *       any thread: bad arguments, closed objects and parts outside of a region are refused in Java or recognised in C;
 *   <li>is as fast as C: posting and polling are one downcall of primitives each, or one for a whole
 *       {@linkplain io.rpma.RpmaBatch batch} of posts, and allocate nothing;
 *   <li>has Java's habits where they cost nothing.
 * </ol>
 *
 * <p><b>Start.</b> {@link io.rpma.RpmaDevice} finds the device, {@link io.rpma.RpmaPeer} opens it and registers memory.
 * One side listens ({@link io.rpma.RpmaEp}), the other asks to connect ({@link io.rpma.RpmaConnReq}), and both get an
 * {@link io.rpma.RpmaConn} to post operations with, whose completions its {@link io.rpma.RpmaCq} tells.
 *
 * <p><b>Life.</b> What has {@code close()} has to be closed: children before parents, which refuse it otherwise. Closing
 * is legal in every state, from every thread, and any number of times; a second {@code close()} does not wait for the
 * first to end. Objects that are dropped without it are reported to the logger, with the place of their creation if
 * {@code -Dio.rpma.leakSites=true} is set, and are not freed.
 *
 * <p><b>Threads.</b> All classes are safe for use by many threads, except {@link io.rpma.RpmaCompletions} and
 * {@link io.rpma.RpmaBatch}, which belong to one at a time. Waits have a form with a timeout, and are ended by
 * {@code close()} and by {@link java.lang.Thread#interrupt()}. Each platform thread that waits needs a descriptor, which is kept for
 * later waits, and so does each object from the first wait for it on. A virtual thread that waits is parked, and leaves
 * its carrier to others. What blocks in the kernel holds it: resolutions ({@link io.rpma.RpmaConnReq#create},
 * {@link io.rpma.RpmaDevice}, host names of {@link io.rpma.RpmaEp#listen}), the registration of much memory, and closing a
 * connection to a host that is dead. One thread serves many connections by an {@link io.rpma.RpmaEventLoop}.
 *
 * <p><b>Errors.</b> Wrong arguments raise {@link java.lang.IllegalArgumentException},
 * {@link java.lang.NullPointerException} or {@link java.lang.IndexOutOfBoundsException}, closed objects
 * {@link java.lang.IllegalStateException}, all before anything is done; failures of librpma raise
 * {@link io.rpma.RpmaException} with what it logged. A full queue, no event and no completion are answers, not errors.
 *
 * <p><b>Log.</b> librpma's messages go to the {@link java.lang.System.Logger} {@code io.rpma}: see {@link io.rpma.RpmaLog}.
 *
 * <p><b>Native access.</b> From JDK 24 on, start Java with {@code --enable-native-access=ALL-UNNAMED}, or
 * {@code =io.rpma} where the library is on the module path.
 */
package io.rpma;
