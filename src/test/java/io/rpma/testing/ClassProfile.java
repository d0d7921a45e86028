// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Writes the time of each test class to the file {@code profile-PID.tsv}, for the profile at the end of
 * {@code native/rxe test}. The property {@code rpma.test.output} names the directory; without the property nothing is
 * written.
 *
 * <p>A line for each class: its name, its begin and its end in milliseconds since the epoch, the processor time of this
 * JVM and of the processes that it started and that have ended, in milliseconds, and how many JVMs it started.
 * Processor times are "-" if classes run in parallel.
 */
public final class ClassProfile implements BeforeAllCallback, AfterAllCallback {
    private static final String DIRECTORY = System.getProperty("rpma.test.output");
    private static final String PARALLEL = "junit.jupiter.execution.parallel.enabled";
    private static final long TICK_MS = 10;
    private static final int CHILDREN_USER = 13;
    private static final int CHILDREN_SYSTEM = 14;

    /** The clocks when a class begins. */
    private static final class Begin {
        final long millis = System.currentTimeMillis();
        final long own = ownMillis();
        final long children = childrenMillis();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (DIRECTORY != null) {
            store(context).put(Begin.class, new Begin());
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        Begin begin = store(context).get(Begin.class, Begin.class);
        if (begin == null) {
            return;
        }
        boolean parallel = context.getConfigurationParameter(PARALLEL)
                .map(Boolean::valueOf)
                .orElse(false);
        String name = context.getRequiredTestClass().getName();
        String line = String.join(
                "\t",
                name,
                Long.toString(begin.millis),
                Long.toString(System.currentTimeMillis()),
                parallel ? "-" : Long.toString(ownMillis() - begin.own),
                parallel ? "-" : Long.toString(childrenMillis() - begin.children),
                Integer.toString(Jvm.startedBy(name)));
        Files.writeString(
                Path.of(DIRECTORY, "profile-" + ProcessHandle.current().pid() + ".tsv"),
                line + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(ExtensionContext.Namespace.create(ClassProfile.class, context.getUniqueId()));
    }

    private static long ownMillis() {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return TimeUnit.NANOSECONDS.toMillis(system.getProcessCpuTime());
    }

    /** See proc(5): fields 16 and 17. The name in field 2 may contain spaces. */
    private static long childrenMillis() {
        try {
            String status = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = status.substring(status.lastIndexOf(')') + 2).split(" ");
            return TICK_MS * (Long.parseLong(fields[CHILDREN_USER]) + Long.parseLong(fields[CHILDREN_SYSTEM]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
