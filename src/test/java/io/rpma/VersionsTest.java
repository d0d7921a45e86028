// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.NewPeerProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A librpma that was built with a newer rdma-core than the loaded one. */
class VersionsTest {
    private static final String MADE = "made RpmaPeer\n";

    @TempDir
    private Path directory;

    private Path compile(String source, String... macros) throws Exception {
        String[] options = new String[macros.length + 2];
        options[0] = "-shared";
        options[1] = "-fPIC";
        System.arraycopy(macros, 0, options, 2, macros.length);
        return CProgram.compile(directory, source, options);
    }

    /** Returns what a program prints that makes a peer. */
    private static String newPeer(String libraries) throws Exception {
        Jvm.Finished finished = Jvm.likeThis()
                .preload(libraries)
                .run(NewPeerProgram.class, CProgram.noopLibrpma().toString());
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out();
    }

    /** Returns what the program prints with a librpma that has native operations. */
    private String newPeer(int functions, String... macros) throws Exception {
        Path librpma = compile("nativerpma.c", macros);
        Path libibverbs = compile("otherverbs.c", "-DFUNCTIONS=" + functions);
        String printed = newPeer(librpma + ":" + libibverbs);
        if (!printed.equals(MADE)) {
            assertThat(printed).contains("(" + librpma.toRealPath() + ")", "(" + libibverbs.toRealPath() + ")");
        }
        return printed;
    }

    /** librpma would take the private flags of libibverbs for the address of a function. */
    @ParameterizedTest
    @CsvSource({"0, 43 or earlier", "1, 44"})
    void nativeFlushWithAnOlderRdmaCore(int functions, String release) throws Exception {
        assertThat(newPeer(functions, "-DNATIVE_FLUSH"))
                .startsWith("io.rpma.RpmaException: rpma_peer_new failed: ")
                .contains("(NOSUPP): librpma (")
                .contains("was built with native flush and with rdma-core 45 or later")
                .contains("queue pairs of rdma-core " + release + " (")
                .contains("; install rdma-core 45 or later");
    }

    @Test
    void nativeAtomicWriteWithAnOlderRdmaCore() throws Exception {
        assertThat(newPeer(0))
                .contains("(NOSUPP): librpma (")
                .contains("was built with native atomic write and with rdma-core 45 or later")
                .contains("queue pairs of rdma-core 43 or earlier (");
    }

    /** As patchelf moves the names of functions. */
    @Test
    void namesInASegmentThatCanBeWritten() throws Exception {
        Path librpma = compile("nativerpma.c", "-DNATIVE_FLUSH");
        makeConstantsWritable(librpma);
        Path libibverbs = compile("otherverbs.c", "-DFUNCTIONS=1");
        assertThat(newPeer(librpma + ":" + libibverbs)).contains("was built with native flush");
    }

    /** Sets PF_W in the PT_LOAD segments of a 64-bit ELF file that have only PF_R. */
    private static void makeConstantsWritable(Path file) throws IOException {
        ByteBuffer elf = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
        int first = (int) elf.getLong(32);
        int size = elf.getShort(54);
        int count = elf.getShort(56);
        for (int header = first; header < first + count * size; header += size) {
            if (elf.getInt(header) == 1 && elf.getInt(header + 4) == 4) {
                elf.putInt(header + 4, 6);
            }
        }
        Files.write(file, elf.array());
    }

    @Test
    void librariesThatSuitEachOther() throws Exception {
        assertThat(newPeer(2, "-DNATIVE_FLUSH")).isEqualTo(MADE);
        assertThat(newPeer(2)).isEqualTo(MADE);
        // release 44 has native atomic write
        assertThat(newPeer(1)).isEqualTo(MADE);
    }

    /** Without native operations, librpma calls no function of a queue pair. */
    @Test
    void aLibrpmaWithoutNativeOperations() throws Exception {
        assertThat(newPeer(compile("otherverbs.c", "-DFUNCTIONS=0").toString())).isEqualTo(MADE);
    }
}
