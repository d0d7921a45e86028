// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.internal.Fake;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.util.concurrent.TimeUnit;

/**
 * Checks whether a descriptor is readable: calls the native method that waits, with the descriptor as the waiter's
 * eventfd.
 */
public final class Readable {
    private Readable() {}

    /** Waits until the descriptor is readable. */
    public static void assertReadable(int fd) {
        assertEquals(Result.WOKEN, poll(fd, TimeUnit.SECONDS.toNanos(Limit.WAIT_S)), "descriptor " + fd);
    }

    /** Checks once, without waiting. */
    public static void assertNotReadable(int fd) {
        assertEquals(Result.TIMED_OUT, poll(fd, 0), "descriptor " + fd);
    }

    private static int poll(int fd, long nanos) {
        Resource object = Fake.unwatchable("Waitable");
        try {
            return Natives.await(object.handle(), fd, nanos);
        } finally {
            Fake.close(object, "rpma_conn_cfg_delete", Natives::connCfgDelete);
        }
    }
}
