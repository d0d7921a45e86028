// SPDX-License-Identifier: BSD-3-Clause
package greeting;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Needs an RDMA device, at the address RPMA_ADDRESS. */
@EnabledIfEnvironmentVariable(named = "RPMA_ADDRESS", matches = ".+")
class GreetingTest {
    @Test
    @Timeout(60)
    void theServerReceivesTheText() throws Exception {
        String address = System.getenv("RPMA_ADDRESS");
        CountDownLatch listening = new CountDownLatch(1);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            Future<String> received = executor.submit(() -> Server.receive(address, 7204, listening::countDown));
            assertTrue(listening.await(10, TimeUnit.SECONDS), "the server listens");
            assertEquals("Hello, server!", Client.send(address, 7204, "Hello, server!"));
            assertEquals("Hello, server!", received.get(10, TimeUnit.SECONDS));
        } finally {
            executor.shutdownNow();
        }
    }
}
