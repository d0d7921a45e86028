package io.rpma.examples.common;

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
 * <p>Only device DAX (and a file of a DAX file system, where the device has on-demand paging) is persistent. A file in
 * {@code /dev/shm} and anonymous memory do for trying things out.
 */
public final class TargetMemory {
    /** The name that stands for the best memory there is. */
    public static final String AUTO = "auto";

    /** The size where neither the user nor the memory gives one. */
    public static final long DEFAULT_SIZE = 256L << 20;

    private static final Path DEVICES = Path.of("/dev");
    private static final String DEVICE_DAX = "dax*.*";
    private static final Path TMPFS = Path.of("/dev/shm");

    private final long size;
    private final Consumer<String> notes;
    private String description;

    /**
     * Sets out for a size.
     *
     * @param size in bytes; 0 for the whole of a file or a device
     * @param notes is told what is not as good as it could be
     */
    public TargetMemory(long size, Consumer<String> notes) {
        this.size = size;
        this.notes = notes;
    }

    /** Maps the memory of a path, or the best that there is; to be closed. */
    public RpmaMemory open(String where) throws IOException {
        return where.equals(AUTO) ? openBest() : map(Path.of(where));
    }

    /** What has been opened, for people. */
    public String description() {
        return description;
    }

    /**
     * Registers the memory for what the other side does with it: write, flush as deep as it goes, and read back.
     *
     * <p>It is locked thereby: that takes seconds where it is large.
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

    /** A file that has no name any more lives as long as its mapping. */
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
