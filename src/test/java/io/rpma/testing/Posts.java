// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.List;
import java.util.stream.Collectors;

/** The work requests and the attributes of queue pairs of another JVM, as {@code src/test/c/posts} prints them. */
public final class Posts {
    /** {@code IB_UVERBS_DEVICE_FLUSH_GLOBAL} and {@code IB_UVERBS_DEVICE_FLUSH_PERSISTENT}. */
    public static final long FLUSH = 1L << 38 | 1L << 39;
    /** {@code IB_UVERBS_DEVICE_ATOMIC_WRITE}. */
    public static final long ATOMIC_WRITE = 1L << 40;

    private static final String POSTED = "posted ";
    private static final String COMPLETED = "completed ";
    private static final String MODIFIED = "modified ";
    private static final String RANG = "rang";

    private Posts() {}

    /** Makes a JVM print its work requests, and removes capabilities of its device. */
    public static Jvm print(Jvm jvm, long hiddenCapabilities) {
        String library = System.getProperty("rpma.test.posts");
        assertNotNull(library, "the property rpma.test.posts does not name the library: see pom.xml");
        return jvm.preload(library).environment("HIDE_CAPABILITIES", Long.toString(hiddenCapabilities));
    }

    /** Returns the work requests. */
    public static List<String> of(Jvm.Finished finished) {
        return after(POSTED, finished);
    }

    /** Returns the number of system calls that made a device in software send. */
    public static long doorbells(Jvm.Finished finished) {
        return finished.err().lines().filter(RANG::equals).count();
    }

    /** Returns the traffic classes and the timeouts of queue pairs, each after the number of the queue pair. */
    public static List<String> attributes(Jvm.Finished finished) {
        return after(MODIFIED, finished);
    }

    private static List<String> after(String prefix, Jvm.Finished finished) {
        return finished.err()
                .lines()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()))
                .collect(Collectors.toList());
    }

    /** Returns the number of atomic writes that were posted while a read was under way. */
    public static long nativeAtomicWritesBehindReads(Jvm.Finished finished) {
        int reads = 0;
        int found = 0;
        for (String line : finished.err().lines().collect(Collectors.toList())) {
            if (line.startsWith(POSTED + "read ")) {
                reads++;
            } else if (line.equals(COMPLETED + "read")) {
                reads--;
            } else if (line.startsWith(POSTED + "native atomic write ") && reads > 0) {
                found++;
            }
        }
        return found;
    }
}
