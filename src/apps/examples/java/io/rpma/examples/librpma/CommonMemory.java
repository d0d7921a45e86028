// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrUsage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * The memory of a file or a device DAX, or DRAM if there is no path: librpma's {@code struct common_mem}.
 *
 * @param memory the memory
 * @param dataOffset the offset of the user's data
 */
record CommonMemory(RpmaMemory memory, long dataOffset) implements AutoCloseable {
    private static final byte[] SIGNATURE = Common.bytes("RPMA_EXAMPLE_SIG");

    /**
     * Opens the memory.
     *
     * @param path the argument of the command line; null for DRAM
     * @param offset the argument of the command line: the start of the example's part of the memory
     * @param size the size of the user's data
     * @param init fills memory that no example has used before
     */
    static CommonMemory open(String path, String offset, int size, Consumer<ByteBuffer> init) throws IOException {
        if (path == null) {
            CommonMemory memory = dram(size);
            init.accept(memory.data(size));
            return memory;
        }
        return map(Path.of(path), Common.number(offset), size, init);
    }

    /**
     * Opens memory without a signature. The example can write its own signature.
     *
     * @param path the argument of the command line; null for DRAM
     * @param size the size of the user's data
     */
    static CommonMemory openUnsigned(String path, int size) throws IOException {
        return path == null ? dram(size) : map(Path.of(path), 0, size);
    }

    private static CommonMemory dram(int size) {
        System.err.println("No <pmem-path> provided. Using DRAM instead.");
        return new CommonMemory(RpmaMemory.allocate(size), 0);
    }

    /** Maps memory with a signature before the data. The signature marks the data as valid. */
    private static CommonMemory map(Path path, long offset, int size, Consumer<ByteBuffer> init) throws IOException {
        CommonMemory memory = map(path, offset + SIGNATURE.length, size);
        ByteBuffer signature = memory.memory().buffer(offset, SIGNATURE.length);
        if (!signature.equals(ByteBuffer.wrap(SIGNATURE))) {
            init.accept(memory.data(size));
            memory.persist(size);
            signature.put(SIGNATURE);
            memory.memory().persist(offset, SIGNATURE.length);
        }
        return memory;
    }

    private static CommonMemory map(Path path, long dataOffset, int size) throws IOException {
        RpmaMemory mapped = RpmaMemory.map(path);
        if (mapped.size() - size < dataOffset) {
            mapped.close();
            throw new IOException(path + " is too small: " + mapped.size() + " < " + (dataOffset + size));
        }
        if (!mapped.isPersistent()) {
            System.err.println(path + " is not persistent memory: a power cut may lose the data.");
        }
        return new CommonMemory(mapped, dataOffset);
    }

    /** Returns the first bytes of the user's data. */
    ByteBuffer data(int size) {
        return memory.buffer(dataOffset, size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Makes the first bytes of the user's data persistent, if the memory is persistent. */
    void persist(int size) {
        memory.persist(dataOffset, size);
    }

    /** Returns the strongest flush that this memory supports, for its registration. */
    RpmaMrUsage flushUsage() {
        return memory.isPersistent() ? RpmaMrUsage.FLUSH_TYPE_PERSISTENT : RpmaMrUsage.FLUSH_TYPE_VISIBILITY;
    }

    @Override
    public void close() {
        memory.close();
    }
}
