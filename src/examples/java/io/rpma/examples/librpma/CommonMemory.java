package io.rpma.examples.librpma;

import io.rpma.RpmaMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Memory of a file or a device DAX, or without a path DRAM: librpma's {@code struct common_mem}.
 *
 * @param memory the memory
 * @param dataOffset where the user's data begins
 */
record CommonMemory(RpmaMemory memory, long dataOffset) implements AutoCloseable {
    private static final byte[] SIGNATURE = Common.bytes("RPMA_EXAMPLE_SIG");

    /**
     * Opens the memory.
     *
     * @param path of the command line; null for DRAM
     * @param offset of the command line, where the example's part of the memory begins
     * @param size of the user's data
     * @param init fills memory that no example has been at
     */
    static CommonMemory open(String path, String offset, int size, Consumer<ByteBuffer> init) throws IOException {
        if (path != null) {
            return map(Path.of(path), Common.number(offset), size, init);
        }
        System.err.println("No <pmem-path> provided. Using DRAM instead.");
        CommonMemory memory = new CommonMemory(RpmaMemory.allocate(size), 0);
        init.accept(memory.data(size));
        return memory;
    }

    /** A signature before the data tells whether it is valid. */
    private static CommonMemory map(Path path, long offset, int size, Consumer<ByteBuffer> init) throws IOException {
        RpmaMemory mapped = RpmaMemory.map(path);
        long dataOffset = offset + SIGNATURE.length;
        if (mapped.size() - size < dataOffset) {
            mapped.close();
            throw new IOException(path + " is too small: " + mapped.size() + " < " + (dataOffset + size));
        }
        CommonMemory memory = new CommonMemory(mapped, dataOffset);
        ByteBuffer signature = mapped.buffer(offset, SIGNATURE.length);
        if (!signature.equals(ByteBuffer.wrap(SIGNATURE))) {
            init.accept(memory.data(size));
            memory.persist(size);
            signature.put(SIGNATURE);
            mapped.persist(offset, SIGNATURE.length);
        }
        return memory;
    }

    /** The first bytes of the user's data. */
    ByteBuffer data(int size) {
        return memory.buffer(dataOffset, size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Makes the first bytes of the user's data persistent, if the memory is. */
    void persist(int size) {
        if (memory.kind() != RpmaMemory.Kind.ANONYMOUS) {
            memory.persist(dataOffset, size);
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
