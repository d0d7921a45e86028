// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.Rxe;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The environment of a command in a guest of user-mode Linux, and the requests that are refused. */
@Tag("bed")
class UmlBedIT {
    private static final Path CHECKOUT = Path.of("").toAbsolutePath();
    private static final String NOBODY = "65534";
    private static final int USAGE = 2;

    @TempDir
    private Path directory;

    private static void assertRan(String out, Rxe.Finished finished) {
        assertThat(finished.err()).isEqualTo(Rxe.BOOTING);
        assertThat(finished.out()).isEqualTo(out);
        assertThat(finished.status()).isZero();
    }

    private static void assertRefused(int status, String reason, Rxe.Finished finished) {
        assertThat(finished.err()).contains(reason).doesNotContain(Rxe.BOOTING);
        assertThat(finished.out()).isEmpty();
        assertThat(finished.status()).isEqualTo(status);
    }

    @Test
    void theDirectoryIsTheSame() throws IOException, InterruptedException {
        Path below = CHECKOUT.resolve(Path.of("src", "bed"));
        assertRan(below.toRealPath() + "\n", Rxe.uml("pwd").in(below).run());
    }

    /** A guest sees nothing of other directories. */
    @Test
    void otherDirectoriesAreHidden() throws IOException, InterruptedException {
        assertRan(
                "nothing\n",
                Rxe.uml("sh", "-c", "[ -e \"$1\" ] || echo nothing", "sh", directory.toString())
                        .run());
    }

    @Test
    void theCheckoutIsWritable() throws IOException, InterruptedException {
        Path shared = Files.createTempDirectory(Path.of("target"), "uml-bed");
        try {
            Files.writeString(shared.resolve("from the host"), "host\n");
            Rxe.Finished finished = Rxe.uml(
                            "sh",
                            "-c",
                            "cd $1; cat from*; echo guest >'to the host'; rm from*",
                            "sh",
                            shared.toString())
                    .run();
            assertRan("host\n", finished);
            assertThat(shared).isDirectoryContaining("glob:**/to the host");
            assertThat(shared).isDirectoryNotContaining("glob:**/from the host");
            assertThat(shared.resolve("to the host")).hasContent("guest\n");
        } finally {
            Tool.run("rm", "-rf", shared.toString());
        }
    }

    @Test
    void theRootIsWritableButNotTheCachedOne() throws IOException, InterruptedException {
        assertRan(
                "written\n",
                Rxe.uml("sh", "-c", "touch /etc/new-file && rm /etc/hostname && echo >>/etc/passwd && echo written")
                        .run());
        assertRan(
                "as before\n",
                Rxe.uml(
                                "sh",
                                "-c",
                                "! [ -e /etc/new-file ] && [ -e /etc/hostname ] && ! grep '^$' /etc/passwd"
                                        + " && echo as before")
                        .run());
        for (Path image : Rxe.cached("image-trixie-????????????")) {
            assertThat(image.resolve("root/etc/new-file")).doesNotExist();
            assertThat(image.resolve("root/etc/hostname")).exists();
        }
    }

    @Test
    void whatIsWrittenIntoMavensRepositoryStaysInTheGuest() throws IOException, InterruptedException {
        Path repository = Files.createDirectory(directory.resolve("repository"));
        Files.writeString(repository.resolve("artifact"), "original\n");
        Rxe.Finished finished = Rxe.uml(
                        "sh",
                        "-c",
                        "cd $1 && cat artifact && echo new >artifact && cat artifact && touch added",
                        "sh",
                        repository.toString())
                .environment("MAVEN_OPTS", "-Dmaven.repo.local=" + repository)
                .run();
        assertRan("original\nnew\n", finished);
        assertThat(repository.resolve("artifact")).hasContent("original\n");
        assertThat(repository.resolve("added")).doesNotExist();
    }

    /** Makes another checkout, with only the files of the script and the directory that makes it a checkout. */
    private Path checkOut() throws IOException, InterruptedException {
        Path checkout = directory.resolve("it's a \"checkout\", $HOME;  \\n=*");
        Files.createDirectories(checkout.resolve("sub directory"));
        Files.createDirectories(checkout.resolve(Path.of("src", "main", "java", "io", "rpma")));
        Rxe.install(checkout);
        return checkout;
    }

    @Test
    void theCheckoutsNameHasBlanksAndQuotes() throws IOException, InterruptedException {
        Path below = checkOut().resolve("sub directory").toRealPath();
        assertRan(
                below + "\n",
                Rxe.command("../native/rxe", "run", "--bed", "uml", "--memory", "512", "sh", "-c", "pwd; pwd >file")
                        .in(below)
                        .run());
        assertThat(below.resolve("file")).hasContent(below + "\n");
    }

    /** Returns a command that drops all privileges. A user other than root has none to drop. */
    private List<String> asNobody(Path cache) throws IOException, InterruptedException {
        if (!Tool.run("id", "-u").equals("0\n")) {
            return List.of("setpriv", "--no-new-privs");
        }
        // Other users may have no access to root's own cache.
        List<String> copy = new ArrayList<>(List.of("sh", "-c", "cp -al \"$@\" || cp -a \"$@\"", "sh"));
        Rxe.cached("{image-trixie,uml}-????????????").forEach(cached -> copy.add(cached.toString()));
        copy.add(cache.toString());
        Tool.run(copy.toArray(new String[0]));
        Tool.run(
                "chown",
                "-h",
                "-R",
                NOBODY + ":" + NOBODY,
                directory.resolve("home").toString());
        Tool.run("chown", NOBODY + ":" + NOBODY, cache.toString());
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        return List.of(
                "env",
                "-i",
                "PATH=/usr/bin:/bin",
                "HOME=" + directory.resolve("home"),
                "RPMA_CACHE=" + cache,
                "setpriv",
                "--reuid=" + NOBODY,
                "--regid=" + NOBODY,
                "--clear-groups",
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--no-new-privs");
    }

    @Test
    void withoutRootAndCapabilities() throws IOException, InterruptedException {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        Path home = Files.createDirectory(directory.resolve("home"));
        Path checkout = home.resolve("checkout");
        Files.move(checkOut(), checkout);
        try {
            Rxe.Finished finished = Rxe.command(
                            "native/rxe",
                            "run",
                            "--bed",
                            "uml",
                            "--memory",
                            "512",
                            "--",
                            "sh",
                            "-c",
                            "id -u; echo guest >file; ibv_devinfo -d rxe0 | grep -o PORT_ACTIVE; cat; exit 3")
                    .under(asNobody(cache))
                    .in(checkout)
                    .input("input\n".getBytes())
                    .run();
            assertThat(finished.err()).isEqualTo(Rxe.BOOTING);
            assertThat(finished.out()).isEqualTo("0\nPORT_ACTIVE\ninput\n");
            assertThat(finished.status()).isEqualTo(3);
            assertThat(checkout.resolve("file")).hasContent("guest\n");
            assertThat(Files.getAttribute(checkout.resolve("file"), "unix:uid"))
                    .isEqualTo(Files.getAttribute(home, "unix:uid"));
            assertThat(Rxe.runs(cache)).isEmpty();
        } finally {
            Tool.run("rm", "-rf", cache.toString());
        }
    }

    @Test
    void anRdmaDevice() throws IOException, InterruptedException {
        String transfer =
                "rping -s -a $RPMA_ADDRESS -C 3 & until rping -c -a $RPMA_ADDRESS -C 3 2>/dev/null; do :; done;"
                        + " wait $! && echo pinged";
        Rxe.Finished finished = Rxe.uml(
                        List.of("--time-limit", "100"),
                        "sh",
                        "-c",
                        "echo $RPMA_BED $RPMA_ADDRESS ${RPMA_PMEM-none} ${RPMA_PEER-none};"
                                + " stat -f -c %T $RPMA_EXT4; ibv_devinfo -d rxe0 | grep -o PORT_ACTIVE; "
                                + transfer)
                .run();
        assertThat(finished.out()).isEqualTo("uml 10.0.0.1 none none\next2/ext3\nPORT_ACTIVE\npinged\n");
        assertThat(finished.status()).isZero();
    }

    @Test
    void twoAtOnce() throws IOException, InterruptedException {
        try (Jvm.Running one = Rxe.uml("sh", "-c", "echo up; cat").start();
                Jvm.Running other = Rxe.uml("sh", "-c", "echo up; cat").start()) {
            one.awaitLine("up");
            other.awaitLine("up");
            one.process().outputWriter().append("first\n").close();
            other.process().outputWriter().append("second\n").close();
            assertThat(one.awaitEnd().out()).isEqualTo("up\nfirst\n");
            assertThat(other.awaitEnd().out()).isEqualTo("up\nsecond\n");
        }
    }

    @Test
    void twoAsHosts() throws IOException, InterruptedException {
        Path link = Files.createDirectory(directory.resolve("a link"));
        String names = "echo up $RPMA_ADDRESS $RPMA_PEER; ";
        try (Jvm.Running server = Rxe.uml(
                                List.of("--time-limit", "100", "--link", link + ":1"),
                                "sh",
                                "-c",
                                names + "rping -s -a $RPMA_ADDRESS -C 10 -v")
                        .start();
                Jvm.Running client = Rxe.uml(
                                List.of("--time-limit", "100", "--link", link + ":2"),
                                "sh",
                                "-c",
                                names + "read go; until rping -c -a $RPMA_PEER -C 10 -v; do :; done")
                        .start()) {
            assertThat(server.awaitLine("up")).isEqualTo("up 10.0.0.1 10.0.0.2");
            assertThat(client.awaitLine("up")).isEqualTo("up 10.0.0.2 10.0.0.1");
            client.process().outputWriter().append("go\n").flush();
            assertThat(client.awaitLine("rdma-ping-9")).startsWith("ping data");
            assertThat(server.awaitLine("rdma-ping-9")).startsWith("server ping data");
            assertThat(client.awaitEnd().status()).isZero();
            assertThat(server.awaitEnd().status()).isZero();
        }
    }

    @Test
    void theTimesOfEachGuest() throws IOException, InterruptedException {
        Path times = directory.resolve("times");
        for (int guests = 1; guests <= 2; guests++) {
            assertRan("", Rxe.uml(List.of("--times", times.toString()), "true").run());
            assertThat(Files.readAllLines(times))
                    .hasSize(guests)
                    .allMatch(line -> line.matches("\\d+\\.\\d+ \\d+(\\.\\d+)?"));
        }
    }

    @Test
    void persistentMemoryIsRefused() throws IOException, InterruptedException {
        Path nvdimm = directory.resolve("nvdimm");
        assertRefused(
                USAGE,
                "persistent memory (--nvdimm) needs QEMU: --bed kvm or --bed qemu",
                Rxe.uml(List.of("--nvdimm", nvdimm.toString()), "true").run());
        assertThat(nvdimm).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({
        "bench, (bench) needs QEMU: --bed kvm or --bed qemu",
        "run, run needs a command",
        "run --nonsense true, unknown option --nonsense",
        "run --link /nonexistent:1 true, '--link takes DIRECTORY:1 or DIRECTORY:2, not ''/nonexistent:1'''",
        "run --link /tmp:3 true, '--link takes DIRECTORY:1 or DIRECTORY:2, not ''/tmp:3'''",
        "run --times /nonexistent/times true, --times takes the path of a file",
        "run --time-limit soon true, --time-limit takes a number of seconds",
        "run --memory much true, --memory takes a number of megabytes",
        "run --cpus none true, --cpus takes a number of processors",
        "run --cpus 2 true, more than one processor (--cpus) needs QEMU: --bed kvm or --bed qemu",
        "run --bed paper true, no bed 'paper': there are auto host kvm uml qemu",
        "run --device rxe0 true, it excludes --bed uml",
    })
    void whatIsNotPossibleIsRefused(String command, String reason) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(Rxe.PROGRAM.toString(), "--bed", "uml"));
        words.addAll(List.of(command.split(" ")));
        assertRefused(USAGE, reason, Rxe.command(words.toArray(new String[0])).run());
    }

    @Test
    void moreMemoryThanThereIsIsRefused() throws IOException, InterruptedException {
        assertRefused(
                1,
                "rxe: the guest needs 1000511 MB of free memory and there are ",
                Rxe.uml(List.of("--memory", "999999"), "true").run());
    }

    /** As in a container, whose root may not mount. The refusal comes before anything is fetched. */
    @Test
    void aGuestThatCanNotBeMadeIsRefused() throws IOException, InterruptedException {
        boolean isRoot = Tool.run("id", "-u").equals("0\n");
        List<String> container = isRoot
                ? List.of("setpriv", "--bounding-set=-sys_admin", "--no-new-privs")
                : List.of("setpriv", "--no-new-privs");
        assertRefused(
                1,
                isRoot
                        ? "rxe: making the guest needs to mount file systems, which is forbidden here: "
                        : " needs root: run this as root, or as a user with sudo",
                Rxe.uml("true")
                        .environment("RPMA_CACHE", directory.toString())
                        .under(container)
                        .run());
        assertThat(directory).isDirectoryNotContaining("glob:**/{image,mount}*");
    }

    @Test
    void theBedIsChosen() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.command(Rxe.PROGRAM.toString(), "run", "--", "printenv", "RPMA_BED")
                .run();
        assertThat(finished.err())
                .containsPattern("(?m)^rxe: bed: " + finished.out().strip() + " \\(.+\\)$");
        assertThat(finished.status()).isZero();
    }

    /** Runs a command that is refused before a guest boots, because no machine has so much memory. */
    private static Rxe.Finished choose(Path cache) throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.command(
                        Rxe.PROGRAM.toString(), "run", "--link", "/tmp:1", "--memory", "999999", "--", "true")
                .environment("RPMA_CACHE", cache.toString())
                .run();
        assertThat(finished.status()).isEqualTo(1);
        return finished;
    }

    @Test
    void aBedOfUserModeLinuxIsChosenWhereItIsMade() throws IOException, InterruptedException {
        Path cache = Rxe.privateCache(directory);
        assertThat(choose(cache).err()).containsPattern("(?m)^rxe: bed: (kvm|uml) \\(.+\\)$");
        Tool.run("find", cache.toString(), "-name", "uml-*", "-delete");
        assertThat(choose(cache).err()).containsPattern("(?m)^rxe: bed: (kvm|qemu) \\(.+\\)$");
        // JUnit would warn about links that lead out of its directory
        Tool.run("find", cache.toString(), "-name", "image-*", "-delete");
    }
}
