// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finds the memory that is offered to the other side, and registers it.
 *
 * <p>Persistent memory is device DAX or, if the RDMA device has on-demand paging, a file of a DAX file system. A file
 * in {@code /dev/shm} and anonymous memory are sufficient for tests.
 */
public final class TargetMemory {
    /** The name that selects the best available memory. */
    public static final String AUTO = "auto";

    /** The size if neither the user nor the memory determines one. */
    public static final long DEFAULT_SIZE = 256L << 20;

    private static final Path DEVICES = Path.of("/dev");
    private static final String DEVICE_DAX = "dax*.*";
    private static final Path TMPFS = Path.of("/dev/shm");

    private final long size;
    private final Consumer<String> notes;
    private String description;

    /**
     * Prepares to find memory of a size.
     *
     * @param size in bytes; 0 for the whole of a file or a device
     * @param notes gets a line for each memory that can't be used, and a line if flushes to persistence are refused
     */
    public TargetMemory(long size, Consumer<String> notes) {
        this.size = size;
        this.notes = notes;
    }

    /** Maps the memory of a path, or the best available memory. The caller closes it. */
    public RpmaMemory open(String where) throws IOException {
        return where.equals(AUTO) ? openBest() : map(Path.of(where));
    }

    /** Returns a description of the opened memory for the user. */
    public String description() {
        return description;
    }

    /**
     * Registers the memory for the operations of the other side: write, flush (to persistence if possible), and read
     * back.
     *
     * <p>Registration locks the memory, which takes seconds for a large memory.
     */
    public RpmaMrLocal register(RpmaPeer peer, RpmaMemory memory) {
        if (memory.isPersistent()) {
            try {
                return peer.register(
                        memory,
                        RpmaMrUsage.WRITE_DST,
                        RpmaMrUsage.READ_SRC,
                        RpmaMrUsage.FLUSH_TYPE_VISIBILITY,
                        RpmaMrUsage.FLUSH_TYPE_PERSISTENT);
            } catch (RpmaException e) {
                notes.accept("flush to persistence is refused: " + e.getMessage());
            }
        }
        return peer.register(memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
    }

    private RpmaMemory openBest() throws IOException {
        for (Path device : devices()) {
            try {
                return map(device);
            } catch (IOException e) {
                notes.accept("not using " + Errors.line(e));
            }
        }
        try {
            return mapTmpfs();
        } catch (IOException e) {
            notes.accept("not using " + Errors.line(e));
        }
        RpmaMemory memory = RpmaMemory.allocate(sizeOrDefault());
        describe(memory, "anonymous memory");
        return memory;
    }

    private static List<Path> devices() throws IOException {
        List<Path> devices = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(DEVICES, DEVICE_DAX)) {
            found.forEach(devices::add);
        }
        Collections.sort(devices);
        return devices;
    }

    private RpmaMemory map(Path path) throws IOException {
        RpmaMemory memory = size == 0 ? RpmaMemory.map(path) : RpmaMemory.map(path, size);
        switch (memory.kind()) {
            case DEVICE_DAX -> describe(memory, path + ", device DAX");
            case FILE_DAX -> describe(memory, path + ", a file on a DAX file system");
            default -> describe(memory, path + ", a file");
        }
        return memory;
    }

    /** Maps a file without a name, which exists as long as its mapping. */
    private RpmaMemory mapTmpfs() throws IOException {
        Path file = Files.createTempFile(TMPFS, "rpma", null);
        try {
            RpmaMemory memory = RpmaMemory.map(file, sizeOrDefault());
            describe(memory, "tmpfs (" + TMPFS + ")");
            return memory;
        } finally {
            Files.delete(file);
        }
    }

    private long sizeOrDefault() {
        return size == 0 ? DEFAULT_SIZE : size;
    }

    private void describe(RpmaMemory memory, String what) {
        description = what + ", " + (memory.isPersistent() ? "persistent" : "not persistent");
    }
}
