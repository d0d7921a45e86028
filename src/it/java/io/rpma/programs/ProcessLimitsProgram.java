// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPort;
import io.rpma.internal.OpenResources;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Descriptors;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.RpmaSession;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The process of {@code LimitsIT}: reaches limits of the process. Each failure names the limit, leaves nothing open,
 * and a connection works when the limit is not reached any more.
 */
public final class ProcessLimitsProgram {
    private static final int PAGE = 4096;
    private static final int LOCKED = 1 << 16;
    private static final int DESCRIPTORS = 256;
    /** More than the descriptors of the two sides of a connection. */
    private static final int MOST_FREE = 12;

    private static final long LARGE = 1 << 28;
    /** Receives with these parts take 64 MiB with soft-RoCE. */
    private static final int LARGE_QUEUE = (1 << 17) - 1;

    private static final int LARGE_RECEIVE = 16;

    private ProcessLimitsProgram() {}

    /** Reaches the limits, and prints the messages of the exceptions. */
    public static void main(String[] arguments) throws Exception {
        RpmaSession.connect().close();
        // without descriptors, no class can be loaded
        RdmaPair.connect().close();
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        synchronous(opened);
        devices(opened);
        closeAll(opened);
        OpenResources before = OpenResources.now();
        lockedMemory();
        before.assertSameNow(1);
        limit("--nofile=" + DESCRIPTORS + ":");
        descriptors(ProcessLimitsProgram::rpma);
        descriptors(ProcessLimitsProgram::rdmacm);
        descriptors(ProcessLimitsProgram::synchronous);
        descriptors(ProcessLimitsProgram::devices);
        before.assertSameNow(1);
        Path file = Files.createTempFile("limits", null);
        try {
            sizeOfFiles(file);
            before.assertSameNow(1);
            addressSpace(file);
            before.assertSameNow(1);
        } finally {
            Files.delete(file);
        }
    }

    private static void limit(String option) throws Exception {
        Tool.run("prlimit", "--pid=" + ProcessHandle.current().pid(), option);
    }

    private static void assertNamed(String limit, Throwable failure) {
        System.out.println(failure);
        assertTrue(failure.toString().contains(limit), failure.toString());
    }

    private static void lockedMemory() throws Exception {
        limit("--memlock=" + LOCKED + ":");
        try (RpmaPeer peer = TestDevice.peer();
                RpmaMemory memory = RpmaMemory.allocate(16 * LOCKED)) {
            assertNamed(
                    "ulimit -l (RLIMIT_MEMLOCK=" + LOCKED + ")",
                    assertThrows(RpmaException.class, () -> peer.register(memory, Regions.ALL)));
            peer.register(memory, 0, LOCKED / 2, Regions.ALL).close();
            limit("--memlock=" + 32 * LOCKED + ":");
            try (RpmaMrLocal region = peer.register(memory, Regions.ALL)) {
                assertEquals(memory.size(), region.getSize());
            }
        }
        RpmaSession.connect().close();
    }

    private interface Connecting {
        void run(Deque<AutoCloseable> opened) throws InterruptedException;
    }

    /** Connects with each small number of descriptors left, so that each call that needs one fails. */
    private static void descriptors(Connecting connecting) throws Exception {
        int failures = 0;
        for (int free = 0; free < MOST_FREE; free++) {
            OpenResources before = OpenResources.now();
            Deque<FileInputStream> files = Descriptors.takeAll();
            Deque<AutoCloseable> opened = new ArrayDeque<>();
            RpmaException failure = null;
            try {
                for (int i = 0; i < free; i++) {
                    files.remove().close();
                }
                connecting.run(opened);
            } catch (RpmaException e) {
                failure = e;
            } finally {
                closeAll(files);
                closeAll(opened);
            }
            if (failure != null) {
                assertNamed("ulimit -n (RLIMIT_NOFILE=" + DESCRIPTORS + ")", failure);
                failures++;
            }
            before.assertSameNow(1);
        }
        assertTrue(0 < failures && failures < MOST_FREE, failures + " failures");
        RpmaSession.connect().close();
    }

    private static void rpma(Deque<AutoCloseable> opened) throws InterruptedException {
        RpmaPeer peer = TestDevice.peer();
        opened.push(peer);
        int port = TestDevice.port();
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
        opened.push(ep);
        RpmaConn client =
                RpmaConnReq.create(peer, TestDevice.address(), port, null).connect();
        opened.push(client);
        RpmaConnReq request =
                ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
        opened.push(request);
        opened.push(request.connect());
        Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
    }

    private static void rdmacm(Deque<AutoCloseable> opened) throws InterruptedException {
        RdmaId listener = RdmaId.create(RdmaPortSpace.TCP);
        opened.push(listener);
        listener.bindAddr(RdmaPair.address(0));
        listener.listen(0);
        RdmaId client = RdmaId.create(RdmaPortSpace.TCP);
        opened.push(client);
        int timeout = (int) TimeUnit.SECONDS.toMillis(Limit.WAIT_S);
        client.resolveAddr(
                null, RdmaPair.address(listener.localAddr().orElseThrow().getPort()), timeout);
        RdmaPair.awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
        client.resolveRoute(timeout);
        RdmaPair.awaitEvent(client, RdmaEventType.ROUTE_RESOLVED);
        client.createQp(RdmaPair.attr());
        client.connect(new RdmaConnParam());
        RdmaId server = RdmaPair.request(listener);
        opened.push(server);
        server.createQp(RdmaPair.attr());
        RdmaPair.accept(client, server);
    }

    /** An id whose channel librdmacm opens. */
    private static void synchronous(Deque<AutoCloseable> opened) {
        RdmaAddrInfo here = RdmaAddrInfo.passive(TestDevice.address(), TestDevice.port(), RdmaPortSpace.TCP);
        opened.push(here);
        opened.push(RdmaId.createEp(here, RdmaPair.attr()));
    }

    private static void devices(Deque<AutoCloseable> opened) {
        List<RpmaPort> ports = RpmaDevice.list().get(0).ports();
        assertEquals(1, ports.size());
        assertFalse(ports.get(0).addresses().isEmpty());
        assertFalse(ports.get(0).interfaces().isEmpty());
    }

    private static void closeAll(Deque<? extends AutoCloseable> objects) throws Exception {
        while (!objects.isEmpty()) {
            objects.pop().close();
        }
    }

    private static void sizeOfFiles(Path file) throws Exception {
        limit("--fsize=" + PAGE + ":");
        assertNamed(
                "ulimit -f (RLIMIT_FSIZE=" + PAGE + ")",
                assertThrows(FileSystemException.class, () -> RpmaMemory.map(file, 2 * PAGE)));
        RpmaMemory.map(file, PAGE).close();
        limit("--fsize=unlimited:");
    }

    private static void addressSpace(Path file) throws Exception {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            // a hole, which takes no memory
            channel.write(ByteBuffer.allocate(1), LARGE - 1);
        }
        RpmaMemory.allocate(LARGE).close();
        long limit = mapped() + LARGE / 2;
        limit("--as=" + limit + ":");
        assertNamed(
                "ulimit -v (RLIMIT_AS=" + limit + ")",
                assertThrows(OutOfMemoryError.class, () -> RpmaMemory.allocate(LARGE)));
        assertNamed(
                "ulimit -v (RLIMIT_AS=" + limit + ")",
                assertThrows(FileSystemException.class, () -> RpmaMemory.map(file)));
        RpmaSession.connect().close();
        // soft-RoCE maps the memory of a queue; other devices may have no queue of this size
        if (TestDevice.isSoft()) {
            queue();
        }
    }

    private static void queue() throws Exception {
        try (RdmaId id = RdmaPair.resolved(TestDevice.port())) {
            long limit = mapped() + LARGE / 8;
            limit("--as=" + limit + ":");
            assertNamed(
                    "ulimit -v (RLIMIT_AS=" + limit + ")",
                    assertThrows(RpmaException.class, () -> id.createSrq(LARGE_QUEUE, LARGE_RECEIVE)));
            limit("--as=unlimited:");
            id.createSrq(LARGE_QUEUE, LARGE_RECEIVE);
        }
        RpmaSession.connect().close();
    }

    /** Returns the number of bytes in the mappings of the process. */
    private static long mapped() throws IOException {
        String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[0];
        return Long.parseLong(pages) * PAGE;
    }
}
