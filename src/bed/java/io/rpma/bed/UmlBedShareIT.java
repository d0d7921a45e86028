// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The directories that a command outside of the checkout sees in a guest of user-mode Linux. */
@Tag("bed")
class UmlBedShareIT {
    private static final int FAILED = 1;
    private static final int USAGE = 2;

    @TempDir
    private Path temporary;

    /** Another project, beside the checkout. */
    private Path project;

    @BeforeEach
    void makeProject() throws IOException {
        project = Files.createDirectory(temporary.toRealPath().resolve("project"));
    }

    /** Runs a shell in the directory of the project. */
    private Rxe shell(List<String> options, String script, String... arguments) {
        String[] command = new String[arguments.length + 4];
        System.arraycopy(new String[] {"sh", "-c", script, "sh"}, 0, command, 0, 4);
        System.arraycopy(arguments, 0, command, 4, arguments.length);
        return Rxe.uml(options, command).in(project);
    }

    private static void assertRan(String out, Rxe.Finished finished) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo(out);
    }

    private static void assertRefused(int status, String reason, Rxe.Finished finished) {
        assertThat(finished.err()).startsWith("rxe: ").contains(reason).doesNotContain(Rxe.BOOTING);
        assertThat(finished.err().lines()).hasSize(1);
        assertThat(finished.out()).isEmpty();
        assertThat(finished.status()).isEqualTo(status);
    }

    @Test
    void aClassOfAnotherProject() throws IOException, InterruptedException {
        Path source = project.resolve("Main.java");
        Files.writeString(source, """
                public class Main {
                    public static void main(String[] arguments) throws Exception {
                        java.nio.file.Files.writeString(java.nio.file.Path.of("address"), System.getenv("RPMA_ADDRESS"));
                        System.out.println(System.getProperty("user.dir"));
                    }
                }
                """);
        assertThat(ToolProvider.findFirst("javac")
                        .orElseThrow()
                        .run(System.out, System.err, "-d", project.resolve("classes") + "", source + ""))
                .isZero();
        Rxe.Finished finished =
                Rxe.uml("java", "-cp", "classes", "Main").in(project).run();
        assertRan(project + "\n", finished);
        assertThat(project.resolve("address")).hasContent("10.0.0.1");
        assertThat(finished.err()).startsWith("rxe: the guest sees ").contains(" " + project);
        assertThat(finished.err().lines()).hasSize(2);
    }

    @Test
    void moreDirectories() throws IOException, InterruptedException {
        Path data = Files.createDirectory(temporary.resolve("it's the \"data\", $HOME;  \\n=]*:\n"));
        Files.createDirectory(temporary.resolve("hidden"));
        Path settings = Files.createDirectory(temporary.resolve("settings"));
        Files.writeString(settings.resolve("settings"), "a setting\n");
        Rxe.Finished finished = shell(
                        List.of("--share", data.toString(), "--share=" + settings + ":ro"),
                        "echo kept >\"$1/file\"; cat \"$2/settings\"; touch \"$2/file\" 2>&1 | grep -o 'Read-only.*'; ls \"$3\"",
                        data.toString(),
                        settings.toString(),
                        temporary.toString())
                .run();
        assertThat(finished.out())
                .startsWith("a setting\nRead-only file system\n")
                .contains("project", "data")
                .doesNotContain("hidden");
        assertThat(data.resolve("file")).hasContent("kept\n");
        assertThat(settings.resolve("file")).doesNotExist();
        assertThat(finished.err()).contains(settings.toRealPath() + " (read-only)");
        assertThat(finished.err().lines()).hasSize(2);
    }

    /** The user's own choice prevails, also for a directory in the current one, and for the current one. */
    @Test
    void aDirectoryInTheCurrentOne() throws IOException, InterruptedException {
        Path below = Files.createDirectory(project.resolve("below"));
        String script = "touch below/file || touch file";
        assertThat(shell(List.of("--share", below + ":ro"), script).run().status())
                .isZero();
        assertThat(project).isDirectoryContaining("glob:**/file");
        assertThat(below).isEmptyDirectory();
        assertThat(shell(List.of("--share", project + ":ro"), script).run().status())
                .isPositive();
        assertThat(shell(List.of("--share", ".:ro", "--share", "below"), script)
                        .run()
                        .status())
                .isZero();
        assertThat(below).isDirectoryContaining("glob:**/file");
    }

    @Test
    void mavensRepositoryAsTheCurrentDirectory() throws IOException, InterruptedException {
        Rxe.Finished finished = shell(List.of(), "touch file")
                .environment("MAVEN_OPTS", "-Dmaven.repo.local=" + project)
                .run();
        assertRan("", finished);
        assertThat(project.resolve("file")).exists();
        assertThat(finished.err()).contains(" " + project).doesNotContain("changes are lost");
    }

    /** A JVM removes the files of the JVMs that do not run, and no JVM of the host runs in the guest. */
    @Test
    void thePerformanceDataOfTheHostsJvms() throws IOException, InterruptedException {
        Path data = Path.of(
                "/tmp",
                "hsperfdata_" + System.getProperty("user.name"),
                Long.toString(ProcessHandle.current().pid()));
        assertThat(data).exists();
        assertThat(shell(List.of("--share", "/tmp"), "java -version && ls /tmp/hsperfdata_root")
                        .run()
                        .status())
                .isZero();
        assertThat(data).exists();
    }

    /**
     * As on a machine without a JVM of root: with a /tmp that has only the checkout and the cache, if they are there.
     */
    @Test
    void noDirectoryForPerformanceDataIsLeft() throws IOException, InterruptedException {
        String script = "exec 8<. 9<\"$1\"; mount -t tmpfs tmpfs /tmp && mkdir -p \"$PWD\" \"$1\" &&"
                + " mount -c --bind /proc/self/fd/8 \"$PWD\" && mount -c --bind /proc/self/fd/9 \"$1\" && cd \"$PWD\" &&"
                + " shift && \"$@\" && find /tmp -maxdepth 1 -name 'hsperfdata_*'";
        Rxe.Finished finished = Rxe.uml(List.of("--share", "/tmp"), "ls", "-d", "/tmp/hsperfdata_root")
                .under(List.of(
                        "unshare",
                        "--map-root-user",
                        "--mount",
                        "sh",
                        "-c",
                        script,
                        "sh",
                        Rxe.cache().toString()))
                .run();
        assertRan("/tmp/hsperfdata_root\n", finished);
    }

    /** A directory has its name without symbolic links, and the name that the user gave it. */
    @Test
    void symbolicLinks() throws IOException, InterruptedException {
        Path data = Files.createDirectory(temporary.resolve("data"));
        Path link = Files.createSymbolicLink(temporary.resolve("link"), data);
        Path entered = Files.createSymbolicLink(temporary.resolve("entered"), project);
        Files.createFile(project.resolve("a file"));
        Rxe.Finished finished = shell(
                        List.of("--share", link.toString()),
                        "pwd; touch \"$1/written\"; ls \"$2\"",
                        link.toString(),
                        entered.toString())
                .in(entered)
                .environment("PWD", entered.toString())
                .run();
        assertRan(project + "\na file\n", finished);
        assertThat(data.resolve("written")).exists();
    }

    /** A link that leads to another link, and a link whose name is below another link. */
    @Test
    void linksOfLinks() throws IOException, InterruptedException {
        Path data = Files.createDirectory(temporary.resolve("data"));
        Files.createFile(data.resolve("a file"));
        Path current = Files.createSymbolicLink(temporary.resolve("current"), data);
        Files.createSymbolicLink(project.resolve("data"), current);
        Files.createDirectory(project.resolve("below"));
        Path entered = Files.createSymbolicLink(temporary.resolve("entered"), project);
        Rxe.Finished finished = shell(
                        List.of("--share", "data", "--share", entered.resolve("below") + ":ro"),
                        "ls data; ls \"$1\"",
                        entered.toString())
                .in(entered)
                .environment("PWD", entered.toString())
                .run();
        assertRan("a file\nbelow\ndata\n", finished);
    }

    /** Without links, the name of the directory is another one, which does not exist. */
    @Test
    void aNameAboveALink() throws IOException, InterruptedException {
        Path data = Files.createDirectories(temporary.resolve("other").resolve("data"));
        Files.createSymbolicLink(project.resolve("link"), Files.createDirectory(data.resolveSibling("sub")));
        assertRan(
                "seen\n",
                shell(List.of("--share", "link/../data"), "[ -d \"$1\" ] && echo seen", data.toString())
                        .in(project)
                        .run());
        assertThat(project.resolve("data")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/usr", "/etc", "/usr/share/../lib", "/proc", "/sys/kernel", "/dev", "/dev/shm", "/run"})
    void theGuestsOwnSystemIsNotHidden(String path) throws IOException, InterruptedException {
        Path real = Path.of(path).toRealPath();
        String reason = "can't share " + real + ", because the guest has its own: ";
        assertRefused(
                FAILED,
                reason + "name another directory",
                Rxe.uml(List.of("--share", path), "true").run());
        assertRefused(
                FAILED,
                reason + "change to another directory",
                Rxe.uml("true").in(real).run());
    }

    /** The guest has the files of no system yet. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/usr", "/etc"})
    void aDirectoryOfEachSystemIsRefusedBeforeAGuestIsMade(String path) throws IOException, InterruptedException {
        Path cache = Files.createDirectory(temporary.resolve("cache"));
        assertRefused(
                FAILED,
                "can't share " + path + ", because the guest has its own: change to another directory",
                Rxe.uml("true")
                        .environment("RPMA_CACHE", cache.toString())
                        .in(Path.of(path))
                        .run());
        assertThat(cache).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource({"/nonexistent", "/nonexistent:ro", "/etc/passwd", "''", ":ro"})
    void onlyDirectoriesAreShared(String path) throws IOException, InterruptedException {
        assertRefused(
                USAGE,
                "--share takes a directory, with or without ':ro' at its end, not '" + path + "'",
                shell(List.of("--share", path), "true").run());
    }

    @Test
    void aDirectoryThatCanNotBeRead() throws IOException, InterruptedException {
        Path secret = Files.createDirectory(temporary.resolve("secret"));
        Tool.run("chmod", "0", secret.toString());
        // Without these capabilities, root needs the permission as other users do.
        List<String> withPermissions = Tool.run("id", "-u").equals("0\n")
                ? List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--no-new-privs")
                : List.of();
        assertRefused(
                FAILED,
                "can't read the directory '" + secret + "': name another directory",
                shell(List.of("--share", secret.toString()), "true")
                        .under(withPermissions)
                        .run());
    }

    @Test
    void aCurrentDirectoryThatWasRemoved() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("true")
                .under(List.of("sh", "-c", "rmdir \"$PWD\" && exec \"$@\"", "sh"))
                .in(project)
                .run();
        assertThat(finished.err()).endsWith("rxe: the current directory does not exist: change to another directory\n");
        assertThat(finished.status()).isEqualTo(FAILED);
    }

    /** An installation has only the files of the script. A guest does not need to see it. */
    @Test
    void anInstallationWithoutACheckout() throws IOException, InterruptedException {
        Path program = Rxe.install(temporary);
        Tool.run("chmod", "-R", "a-w", program.getParent().toString());
        Rxe.Finished finished = Rxe.command(
                        program.toString(),
                        "run",
                        "--bed",
                        "uml",
                        "--memory",
                        "512",
                        "sh",
                        "-c",
                        "[ -e \"$0\" ] || echo hidden",
                        program.toString())
                .in(project)
                .run();
        assertRan("hidden\n", finished);
        assertThat(finished.err())
                .contains(" " + project)
                .doesNotContain(program.getParent().toString());
        for (String command : List.of("test", "demo", "bench", "jshell")) {
            assertRefused(
                    FAILED,
                    command + " needs a checkout of rpma-java",
                    Rxe.command(program.toString(), command).in(project).run());
        }
    }

    /** Returns the names that the help lists between two texts. */
    private static List<String> named(String help, String before, String after) {
        Matcher list = Pattern.compile(before + "(.*?)" + after).matcher(help);
        assertThat(list.find()).as(before + " in " + help).isTrue();
        return List.of(list.group(1).split(", | and "));
    }

    @Test
    void theHelpNamesWhatAGuestHasAndLacks() throws IOException, InterruptedException {
        Rxe.Finished finished =
                Rxe.command(Rxe.PROGRAM.toString(), "run", "--help").in(project).run();
        assertThat(finished.err()).isEmpty();
        assertThat(finished.status()).isZero();
        String help = finished.out().replace('\n', ' ');
        List<String> packages = named(help, "the packages ", "\\. ");
        List<String> programs = named(help, "none of the programs ", "\\. ");
        assertThat(packages).contains("procps", "bc");
        assertThat(programs).contains("mvn", "gdb");
        assertRan(
                "",
                shell(
                                List.of(),
                                "dpkg-query -W $1 >/dev/null; for p in $2; do command -v $p; done; [ ! -e $JAVA_HOME/jmods ] || echo jmods",
                                String.join(" ", packages),
                                String.join(" ", programs))
                        .run());
    }
}
