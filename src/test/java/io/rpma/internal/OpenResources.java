// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import io.rpma.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The open resources of the library in this process: native objects, descriptors and memory. */
public final class OpenResources {
    /** The eventfd of a wait stays open for the next wait. */
    private static final String EVENTFD = "anon_inode:[eventfd]";

    private final int handles;
    private final long mappings;
    private final long memory;
    private final Map<String, Integer> descriptors;
    private final int eventfds;

    private OpenResources() {
        Loader.ensureLoaded();
        handles = Natives.handleCount();
        mappings = countMappings();
        memory = FreshMemory.bytes();
        descriptors = countDescriptors();
        Integer waits = descriptors.remove(EVENTFD);
        eventfds = waits == null ? 0 : waits;
    }

    public static OpenResources now() {
        return new OpenResources();
    }

    /**
     * Checks that the same resources are open as when this object was created.
     *
     * @param waiters the maximum number of threads that have waited at the same time since then
     */
    public void assertSameNow(int waiters) {
        // a separate thread unmaps the memory of collected buffers
        try {
            Eventually.becomeByGc("as much is open as before", () -> now().isSame(this, waiters));
        } catch (AssertionError e) {
            throw new AssertionError("before: " + this + "; now: " + now(), e);
        }
    }

    private boolean isSame(OpenResources before, int waiters) {
        return handles == before.handles
                // the collector can free mappings of earlier tests meanwhile
                && mappings <= before.mappings
                && memory <= before.memory
                && descriptors.equals(before.descriptors)
                && eventfds <= before.eventfds + waiters;
    }

    /** Counts the descriptors of devices and the eventfds by target. The JVM can open other files at any time. */
    private static Map<String, Integer> countDescriptors() {
        Map<String, Integer> counts = new TreeMap<>();
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : fds) {
                String target = target(fd);
                if (target.contains("infiniband") || target.contains("uverbs") || target.equals(EVENTFD)) {
                    counts.merge(target, 1, Integer::sum);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        }
        return counts;
    }

    private static String target(Path fd) throws IOException {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (NoSuchFileException e) {
            return "closed";
        }
    }

    /** Counts the shared anonymous mappings by the name that the kernel gives them. Each connection has such a page. */
    private static long countMappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.endsWith("/dev/zero (deleted)")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return handles + " native objects, " + mappings + " mappings, " + memory + " bytes, " + eventfds
                + " eventfds, descriptors " + descriptors;
    }
}
