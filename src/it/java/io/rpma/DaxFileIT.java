// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.DaxFileSystem;
import io.rpma.testing.OnDemand;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Files of a DAX file system, which are mapped without the page cache. */
@Tag("persistent-memory")
class DaxFileIT {
    private static final int PAGE = 4096;
    private static final int SIZE = 16 * PAGE;
    private static final int PACKET = 1024;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private static DaxFileSystem fileSystem;

    @BeforeAll
    static void open() throws Exception {
        fileSystem = DaxFileSystem.open();
    }

    @AfterAll
    static void remove() throws Exception {
        if (fileSystem != null) {
            fileSystem.remove();
        }
    }

    private Path path;

    @BeforeEach
    void createFile() throws IOException {
        path = Files.createTempFile(fileSystem.directory(), "file", null);
    }

    @AfterEach
    void deleteFile() throws IOException {
        Files.delete(path);
    }

    @Test
    void isPersistent() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(path, SIZE)) {
            assertEquals(RpmaMemory.Kind.FILE_DAX, memory.kind());
            assertTrue(memory.isPersistent());
            memory.buffer().putLong(SIZE - Long.BYTES, 42);
            memory.persist(SIZE - Long.BYTES, Long.BYTES);
        }
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(path)) {
            assertEquals(RpmaMemory.Kind.FILE_DAX, memory.kind());
            assertTrue(memory.isPersistent());
        }
        assertThat(ByteBuffer.wrap(Files.readAllBytes(path)).getLong(SIZE - Long.BYTES))
                .isEqualTo(42);
    }

    /** A cache instruction on a page that was truncated from the file would end the process. */
    @Test
    void truncatedBytesAreNotPersistent() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(path, SIZE);
                FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            memory.buffer().putLong(0, 42);
            memory.buffer().putLong(SIZE - Long.BYTES, 42);
            channel.truncate(PAGE);
            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> memory.persist(0, SIZE))
                    .withMessageContaining("the file has been made shorter");
            memory.persist(0, PAGE);
        }
    }

    /**
     * The kernel pins no page of such a file, so that the device needs on-demand paging, which the library refuses on
     * soft-RoCE. The writes begin with a page, because soft-RoCE puts others in the wrong place: see
     * {@link OnDemandPagingIT#bytesInsideAPage}.
     */
    @Test
    void isATargetWithOnDemandPaging() throws Exception {
        RpmaMrUsage[] usages = {RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_PERSISTENT};
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(path, SIZE)) {
            if (!pair.peer.device().isOdpCapable()) {
                assertThatExceptionOfType(RpmaException.class)
                        .isThrownBy(() -> pair.peer.register(memory, usages))
                        .withMessageContaining("needs a device with on-demand paging");
                return;
            }
            if (TestDevice.isSoft()) {
                assertThatExceptionOfType(RpmaException.class)
                        .isThrownBy(() -> pair.peer.register(memory, usages))
                        .withMessageContaining("soft-RoCE copies the bytes to a wrong place");
            }
            try (RpmaMrLocal region = OnDemand.permit(() -> pair.peer.register(memory, usages));
                    RpmaMrRemote remote = Pair.remote(region);
                    Regions regions = new Regions(pair.peer, PAGE);
                    RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
                assertTrue(region.isPersistent());
                OnDemandPagingIT.assertAdvice((advice, flush) -> region.advise(PAGE, SIZE - PAGE, advice, flush));
                pair.client.applyRemotePeerCfg(cfg);
                regions.fillLocal(1);
                for (int page = 0; page < SIZE / PAGE; page++) {
                    Pair.assertPosted(pair.client.write(remote, page * PAGE, regions.local, 0, PACKET, ALWAYS, 1));
                    Pair.assertDone(pair.client, 1);
                }
                Pair.assertPosted(pair.client.flush(remote, 0, SIZE, RpmaFlushType.PERSISTENT, ALWAYS, 2));
                Pair.assertDone(pair.client, 2);
                Pair.assertPosted(pair.client.atomicWrite(remote, PAGE - Long.BYTES, 42, ALWAYS, 3));
                Pair.assertDone(pair.client, 3);
                Pair.assertPosted(pair.client.flush(remote, 0, PAGE, RpmaFlushType.PERSISTENT, ALWAYS, 4));
                Pair.assertDone(pair.client, 4);
                ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.nativeOrder());
                for (int page = 0; page < SIZE / PAGE; page++) {
                    assertEquals(regions.localMemory.buffer(0, PACKET), content.slice(page * PAGE, PACKET));
                }
                assertEquals(42, content.getLong(PAGE - Long.BYTES));
                truncateAndWrite(pair, regions, remote);
            }
        }
    }

    /** The write to the page that is gone fails. The file stays as short as it is. */
    private void truncateAndWrite(Pair pair, Regions regions, RpmaMrRemote remote) throws Exception {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(PAGE);
        }
        Pair.assertPosted(pair.client.write(remote, 0, regions.local, 0, PACKET, ALWAYS, 5));
        Pair.assertDone(pair.client, 5);
        Pair.assertPosted(pair.client.write(remote, PAGE, regions.local, 0, PACKET, ALWAYS, 6));
        Pair.assertCompletion(pair.client, 6, RpmaWcStatus.REM_ACCESS_ERR);
        assertThat(path).hasSize(PAGE);
    }
}
