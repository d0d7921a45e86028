// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.nio.ByteBuffer;

/** A direct buffer with its own {@code Arena}. Uses reflection, because arenas came with JDK 22. */
public final class ArenaBuffer {
    private static final String PACKAGE = "java.lang.foreign.";

    private final Class<?> arenaType = Class.forName(PACKAGE + "Arena");
    private final Object arena = arenaType.getMethod("ofShared").invoke(null);
    private final ByteBuffer buffer;

    /** Allocates the buffer. */
    public ArenaBuffer(long size) throws ReflectiveOperationException {
        Object segment = arenaType.getMethod("allocate", long.class, long.class).invoke(arena, size, 1);
        buffer = (ByteBuffer) Class.forName(PACKAGE + "MemorySegment")
                .getMethod("asByteBuffer")
                .invoke(segment);
    }

    /** The buffer. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Closes the arena, which frees the memory. */
    public void closeArena() throws ReflectiveOperationException {
        arenaType.getMethod("close").invoke(arena);
    }
}
