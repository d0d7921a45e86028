// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A DAX file system on persistent memory: the directory that the variable {@code RPMA_FSDAX} names or, in a guest of
 * {@code native/rxe}, a new ext4 in the place of the device DAX, which loses its contents.
 */
public final class DaxFileSystem {
    private static final String NAMESPACE = "namespace0.0";

    private final Path directory;
    private final boolean isMounted;

    private DaxFileSystem(Path directory, boolean isMounted) {
        this.directory = directory;
        this.isMounted = isMounted;
    }

    /** Opens the file system of {@code RPMA_FSDAX}, or makes one. */
    public static DaxFileSystem open() throws IOException, InterruptedException {
        String configured = System.getenv("RPMA_FSDAX");
        if (configured != null) {
            return new DaxFileSystem(Path.of(configured), false);
        }
        String bed = System.getenv("RPMA_BED");
        if (!"qemu".equals(bed) && !"kvm".equals(bed)) {
            abort(
                    "no directory of a DAX file system on persistent memory: set RPMA_FSDAX to one, or use 'native/rxe test'");
        }
        Path directory = Files.createTempDirectory("fsdax");
        boolean isMounted = false;
        try {
            makeNamespace("fsdax");
            Tool.run("mkfs.ext4", "-q", "-b", "4096", "/dev/pmem0");
            Tool.run("mount", "-o", "dax", "/dev/pmem0", directory.toString());
            isMounted = true;
        } finally {
            if (!isMounted) {
                makeNamespace("devdax");
            }
        }
        return new DaxFileSystem(directory, true);
    }

    /**
     * Makes the namespace again: {@code fsdax} for the file system, {@code devdax} for the device DAX of later tests.
     */
    private static void makeNamespace(String mode) throws IOException, InterruptedException {
        Tool.run("ndctl", "create-namespace", "-f", "-e", NAMESPACE, "-m", mode, "-a", "4096");
    }

    /** Returns a directory of the file system. */
    public Path directory() {
        return directory;
    }

    /** Makes the device DAX again, if this object has replaced it. */
    public void remove() throws IOException, InterruptedException {
        if (isMounted) {
            Eventually.becomeByGc("no file of " + directory + " is mapped", () -> !isMapped(directory));
            Tool.run("umount", directory.toString());
            Files.delete(directory);
            makeNamespace("devdax");
        }
    }

    private static boolean isMapped(Path directory) {
        try {
            return Files.readString(Path.of("/proc/self/maps")).contains(directory.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
