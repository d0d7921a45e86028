// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaMemory;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The examples of librpma that take persistent memory, with device DAX. */
@Tag("processes")
@Tag("persistent-memory")
@ResourceLock(TestDevice.PMEM)
class ExamplesOnPmemIT extends ExampleSides {
    /** The offset of the clients' part of the device. The servers' part is at its beginning. */
    private static final String CLIENT_OFFSET = "1024";

    private static final int PAGE = 4096;
    private static final int DATA_OFFSET = 17;

    private Path pmem;

    /** Clears the device, as if no example had used it. */
    @BeforeEach
    void clear() throws IOException {
        pmem = TestDevice.pmem();
        try (RpmaMemory memory = RpmaMemory.map(pmem)) {
            memory.buffer(0, PAGE).put(new byte[PAGE]);
            memory.persist(0, PAGE);
        }
    }

    private void assertGreeting() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(pmem)) {
            assertThat(Common.text(memory.buffer(DATA_OFFSET, Hello.STRING_SIZE)))
                    .isEqualTo("Hello world!");
        }
    }

    @Test
    void readToPersistent() throws Exception {
        try (Jvm.Running server = start(Example03ReadToPersistentServer.class, pmem.toString());
                Jvm.Running client = start(Example03ReadToPersistentClient.class, pmem.toString(), CLIENT_OFFSET)) {
            assertPrints(client, GREETED);
            assertPrints(server, NEW_VALUE);
        }
        assertGreeting();
    }

    @Test
    void writeToPersistent() throws Exception {
        try (Jvm.Running server = start(Example04WriteToPersistentServer.class, pmem.toString());
                Jvm.Running client = start(Example04WriteToPersistentClient.class, pmem.toString(), CLIENT_OFFSET)) {
            assertPrints(client, GREETED);
            assertPrints(server, NEW_VALUE);
        }
        assertGreeting();
        port = TestDevice.port();
        try (Jvm.Running server = start(Example04WriteToPersistentServer.class, pmem.toString());
                Jvm.Running client = start(Example04WriteToPersistentClient.class)) {
            assertPrints(client, GREETED);
            assertPrints(server, OLD_VALUE, NEW_VALUE);
        }
    }

    @Test
    void flushToPersistent() throws Exception {
        try (Jvm.Running server = start(Example05FlushToPersistentServer.class, pmem.toString(), "on");
                Jvm.Running client = start(Example05FlushToPersistentClient.class, pmem.toString(), CLIENT_OFFSET)) {
            assertPrints(client, NEXT_VALUE, "RPMA_FLUSH_TYPE_PERSISTENT is supported", TRANSLATING, TRANSLATION);
            assertPrints(server, NEW_VALUE);
        }
        assertGreeting();
    }

    @Test
    void atomicWriteToPersistent() throws Exception {
        try (Jvm.Running server = start(Example07AtomicWriteServer.class, pmem.toString());
                Jvm.Running client = start(Example07AtomicWriteClient.class, "1st_word", "2nd_word")) {
            assertPrints(client, "used value: 16");
            assertPrints(server, "1st_word", "2nd_word");
        }
        port = TestDevice.port();
        try (Jvm.Running server = start(Example07AtomicWriteServer.class, pmem.toString());
                Jvm.Running client = start(Example07AtomicWriteClient.class, "\u00a1")) {
            assertPrints(client, "used value: 34");
            assertPrints(server, "1st_word", "2nd_word", "\u00a1");
        }
    }

    private void assertMakesPersistent(Class<?> serverProgram, Class<?> clientProgram) throws Exception {
        try (Jvm.Running server = start(serverProgram, pmem.toString());
                Jvm.Running client = start(clientProgram, pmem.toString(), CLIENT_OFFSET)) {
            assertPrints(client, GREETED);
            assertPrints(
                    server, "Flush request received: {offset: 0x11, length: 0x400, op_context: 0xF01D}", NEW_VALUE);
        }
        assertGreeting();
    }

    @Test
    void flushByTheServer() throws Exception {
        assertMakesPersistent(Example09FlushToPersistentGPSPMServer.class, Example09FlushToPersistentGPSPMClient.class);
    }

    @Test
    void flushByTheServerWithSharedChannel() throws Exception {
        assertMakesPersistent(
                Example09scchFlushToPersistentGPSPMServer.class, Example09scchFlushToPersistentGPSPMClient.class);
    }
}
