// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.internal.Errno;
import io.rpma.internal.Fake;
import io.rpma.internal.Resource;
import io.rpma.internal.Waiter;
import io.rpma.testing.Descriptors;
import java.io.FileInputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Deque;

/** Makes calls that need a descriptor while none is left. */
public final class DescriptorLimitProgram {
    private static final String OPERATION = "rpma_conn_next_event";

    private DescriptorLimitProgram() {}

    /**
     * Prints the messages of the failures, one per line.
     *
     * @param arguments the path of a file, which this program writes
     */
    public static void main(String[] arguments) throws Exception {
        Resource object = Fake.unwatchable("Waitable");
        Path file = Files.write(Path.of(arguments[0]), new byte[1]);
        loadClasses(file);
        StringBuilder failures = new StringBuilder();
        Deque<FileInputStream> files = Descriptors.takeAll();
        try {
            failures.append(failure(() -> Waiter.await(OPERATION, object, Waiter.FOREVER)));
            failures.append(failure(RpmaEventLoop::create));
            failures.append(failure(() -> RpmaMemory.map(file)));
            failures.append(failure(() -> Fake.daxDevice(Path.of("/sys"))));
            // one descriptor: enough for the waiter, but not for the eventfd by which close() ends the wait
            files.remove().close();
            failures.append(failure(() -> Waiter.await(OPERATION, object, Waiter.FOREVER)));
        } finally {
            for (FileInputStream taken : files) {
                taken.close();
            }
        }
        System.out.print(failures);
        System.out.println(Waiter.await(OPERATION, object, 1_000_000));
    }

    /** Loading a class may need descriptors too. */
    private static void loadClasses(Path file) throws Exception {
        failure(() -> RpmaDevice.local("192.0.2.1"));
        Errno.message(0);
        RpmaMemory.map(file).close();
        failure(() -> Fake.daxDevice(Path.of("/sys")));
        RpmaEventLoop.create().close();
        Waiter.left(Waiter.FOREVER, 0);
    }

    private interface Failing {
        Object call() throws Exception;
    }

    private static String failure(Failing failing) throws Exception {
        try {
            return "no failure: " + failing.call() + "\n";
        } catch (RpmaException | FileSystemException e) {
            return e.getMessage() + "\n";
        }
    }
}
