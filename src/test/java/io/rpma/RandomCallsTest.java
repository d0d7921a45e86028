// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.testing.RandomCalls;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random calls without a device. */
class RandomCallsTest {
    @Test
    void nothingButTheDocumentedExceptions(@TempDir Path directory) throws Exception {
        RandomCalls calls = new RandomCalls(200_000);
        RandomObjects objects = new RandomObjects(calls);
        objects.add(directory);
        // fakes, which behave as if they were closed: other connections need a device
        calls.add(1, "new RpmaConn", c -> objects.conns.put(c, FakeFacade.conn()));
        calls.run();
    }
}
