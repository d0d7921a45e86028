// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import io.rpma.testing.Guest;
import io.rpma.testing.Javac;
import io.rpma.testing.Jvm;
import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the guide for the administrator of a machine, in guests, whose administrator is the test. */
@Tag("consumers")
class GuideCommandsIT {
    @TempDir
    private Path directory;

    /**
     * One guest for all blocks, because its boot takes long. The guest has no udev and no systemd, which mounts
     * hugetlbfs.
     */
    @Test
    void persistentMemoryAndHugePages() throws IOException, InterruptedException {
        String script = String.join(
                "\n",
                "exec 2>&1",
                Document.MEMORY.block("device-dax"),
                Guest.java(MemoryProgram.class, "/dev/dax0.0"),
                Document.MEMORY.block("dax-file-system"),
                Guest.java(MemoryProgram.class, "/mnt/pmem/data"),
                "umount /mnt/pmem",
                Document.MEMORY.block("huge-pages"),
                "mkdir -p /dev/hugepages",
                "mount -t hugetlbfs none /dev/hugepages",
                Guest.java(MemoryProgram.class, MemoryProgram.HUGE_PAGES));
        Rxe.Finished end = Rxe.command(
                        Rxe.PROGRAM.toString(),
                        "run",
                        "--bed",
                        "qemu",
                        "--memory",
                        "1024",
                        "--cpus",
                        "1",
                        "--nvdimm",
                        directory.resolve("nvdimm").toString(),
                        "sh",
                        "-e",
                        "-c",
                        script)
                .run();
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out())
                .containsPattern("(?m)^crw.* /dev/dax0\\.0$")
                .containsSubsequence(
                        "\"mode\":\"devdax\"",
                        "DEVICE_DAX, persistent\n",
                        "\"mode\":\"fsdax\"",
                        "FILE_DAX, persistent\n",
                        "vm.nr_hugepages = 32\n",
                        "67108864\n67108864, FILE\n");
    }

    /**
     * The device files that a container needs. The directory /dev of the command has these files and those of each
     * container. The command is the example of the README.
     */
    @Test
    void theFilesOfAContainer() throws IOException, InterruptedException {
        Path source = Files.writeString(directory.resolve("Hello.java"), Document.README.block("hello"));
        Javac.compile(directory, source);
        String script = String.join(
                "\n",
                "mount -t tmpfs none /mnt",
                "cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/fd /dev/stdin /dev/stdout /dev/stderr /mnt",
                "mkdir /mnt/infiniband /mnt/shm",
                "for file; do cp -a /dev/infiniband/$file /mnt/infiniband; done",
                "mount --move /mnt /dev",
                "ls /dev/infiniband",
                "exec java --enable-native-access=ALL-UNNAMED -cp '"
                        + Jvm.libraryJar().toAbsolutePath() + ":" + directory + "' Hello $RPMA_ADDRESS");
        Rxe.Finished both = inContainer(script, "uverbs0", "rdma_cm");
        assertThat(both.status()).as(both.toString()).isZero();
        assertThat(both.out()).startsWith("rdma_cm\nuverbs0\n").endsWith("target: Hello, remote memory!\n");
        for (String file : List.of("uverbs0", "rdma_cm")) {
            Rxe.Finished one = inContainer(script, file);
            assertThat(one.out()).isEqualTo(file + "\n");
            assertThat(one.status()).as(one.toString()).isEqualTo(1);
        }
    }

    private Rxe.Finished inContainer(String script, String... files) throws IOException, InterruptedException {
        String command = "exec unshare --mount sh -e -c \"$0\" container " + String.join(" ", files);
        return Rxe.uml(List.of("--share", directory.toString()), "sh", "-e", "-c", command, script)
                .run();
    }
}
