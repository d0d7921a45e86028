// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Access;
import io.rpma.internal.Resource;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * The close of many objects at once.
 *
 * <pre>{@code
 * RpmaObjects.closeAll(List.of(peer, conn, local, memory));
 * }</pre>
 */
public final class RpmaObjects {
    private RpmaObjects() {}

    /**
     * Closes objects of this package and of {@code io.rpma.rdmacm}, in the right order.
     *
     * <p>An {@link RpmaMemoryPool} is not accepted: it must be closed before, with its own {@code close()}, because its
     * buffers may be in use.
     *
     * <p>Each object is closed as by its {@code close()}, but the calls under way on all of the objects are awaited
     * together. This saves a system call and a wait for each object except the first. The system call interrupts the
     * threads of the program that are running, so that a close beside a busy thread takes about 10 microseconds, and
     * the close of a further object of a list a fraction of a microsecond, without the work of librpma and the kernel.
     * Objects that are already closed are skipped; for those that another thread is closing, this method waits.
     *
     * <p>Blocks as the {@code close()} of each object does. If another thread is closing an object of the list, this
     * method waits for that thread before it frees an object on which the other object depends. Safe for use by many
     * threads, also with the same objects.
     *
     * @param objects the objects, in any order
     * @throws IllegalArgumentException if an object is not of this library, or is an {@link RpmaMemoryPool}; nothing is
     *     closed
     * @throws NullPointerException if an object is null; nothing is closed
     * @throws IllegalStateException if an object that is not in {@code objects}, and is not yet freed, depends on an
     *     object of {@code objects}; the message names both, and nothing is closed. If another thread makes or connects
     *     such an object during this call, only the objects on which it depends stay open, and the call can be
     *     repeated.
     * @throws OutOfMemoryError if memory runs out; the objects that stay open can be closed later
     * @throws RpmaException if librpma or the system reports a failure; all objects are closed nevertheless. If there
     *     are several failures, the others are suppressed exceptions of the first one.
     */
    public static void closeAll(Collection<? extends AutoCloseable> objects) {
        List<RpmaEventLoop> loops = new ArrayList<>();
        List<Resource> natives = new ArrayList<>(objects.size());
        for (AutoCloseable object : objects) {
            natives.add(nativeObject(object));
            if (object instanceof RpmaEventLoop) {
                loops.add((RpmaEventLoop) object);
            }
        }
        try {
            Resource.closeAll(natives);
        } finally {
            for (RpmaEventLoop loop : loops) {
                loop.engine().endIfClosed();
            }
            // a facade that is collected before its object is closed is reported as a leak
            Reference.reachabilityFence(objects);
        }
    }

    private static Resource nativeObject(AutoCloseable object) {
        Objects.requireNonNull(object, "object");
        if (object instanceof RpmaMemoryPool) {
            throw new IllegalArgumentException("a pool must be closed by its own close(): " + object);
        }
        Resource found = Access.get().object(object);
        if (found == null) {
            throw new IllegalArgumentException("not an object of this library that can be closed: " + object);
        }
        return found;
    }
}
