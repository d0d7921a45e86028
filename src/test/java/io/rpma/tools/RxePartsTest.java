// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Functions of the parts of {@code native/rxe}, with made-up functions for the rest of the script. */
@Tag("unsanitized")
@Timeout(60)
class RxePartsTest {
    private static final Path PARTS = Rxe.PROGRAM.resolveSibling("softroce");

    /** The variables that the script sets before a part runs. */
    private static final String SCRIPT = """
            set -euo pipefail
            parts=$1 cache=$2
            program_name=native/rxe softroce=$parts native=$parts/.. checkout=$parts/../..
            for part in common cache host image bed uml test; do
                source "$parts/$part.sh"
            done
            row=trixie wanted_bed=auto bed=auto all_rows=false sanitize=false memory=512
            """;

    /** The functions that install packages and make guests print their names. The packages of the guest are missing. */
    private static final String STUBS = """
            require_for_foreign_build() { require building lacking.1 cross-compiler; }
            require_for_guest() { require guest lacking.2 emulator-of-$row; }
            require_for_image() { require image lacking.3 debootstrap; }
            install_packages() { echo "installs ${*:2}"; }
            find_missing() { missing=("$2"); ! $installed || missing=(); }
            installs_with_apt() { true; }
            get_root() { $root; }
            hash() { installed=true; }
            installed=false
            """;

    @TempDir
    private Path cache;

    private String run(String script) throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.command("bash", "-c", SCRIPT + script, "test", PARTS.toString(), cache.toString())
                .run();
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out();
    }

    /** The tests on another processor are part of a run with the default options. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                                  | true  | trixie-arm64
                    'all_rows=true'                     | true  | bookworm backports trixie-arm64
                    'all_rows=true'                     | false | bookworm backports trixie-arm64
                    'row=bookworm all_rows=true'        | true  | trixie backports trixie-arm64
                    'row=trixie-arm64 all_rows=true'    | true  | trixie bookworm backports
                    'row=trixie-arm64'                  | true  | ''
                    'row=bookworm'                      | true  | ''
                    'wanted_bed=uml'                    | true  | ''
                    'sanitize=true'                     | true  | ''
                    'sanitize=true all_rows=true'       | true  | bookworm backports
                    """)
    void theRowsOfARun(String options, boolean root, String rows) throws IOException, InterruptedException {
        String out = run(STUBS + "root=" + root + " " + options + """

                select_foreign_tests >/dev/null
                select_other_rows
                echo "${other_rows[*]}"
                """);
        assertThat(out).isEqualTo(rows + "\n");
    }

    @Test
    void theTestsOnAnotherProcessorWithoutRoot() throws IOException, InterruptedException {
        String out = run(STUBS + """
                root=false
                select_foreign_tests
                echo "$foreign_tests, $row, $bed, ${summaries[*]}"
                """);
        assertThat(out)
                .isEqualTo(
                        "false, trixie, auto, device tests in the guest 'trixie-arm64': not run, because packages are "
                                + "missing and can't be installed: cross-compiler emulator-of-trixie-arm64 debootstrap\n");
    }

    @Test
    void theTestsOnAnotherProcessorInstallPackages() throws IOException, InterruptedException {
        String out = run(STUBS + """
                root=true
                hash() { true; }
                find_missing() { missing=("$2"); }
                require() { if $only_looks; then lacking+=("$3"); else echo "installs $3"; fi; }
                select_foreign_tests
                echo "$foreign_tests, $row, $bed, ${#summaries[@]}"
                """);
        assertThat(out).isEqualTo("""
                installs cross-compiler
                installs emulator-of-trixie-arm64
                installs debootstrap
                true, trixie, auto, 0
                """);
    }

    /** A part has a time limit, which is too short for the making of a guest. */
    @Test
    void theGuestsAreMadeBeforeTheFirstPart() throws IOException, InterruptedException {
        String out = run(STUBS + """
                root=true all_rows=true
                provide_guest() { echo "provides $row on $bed"; }
                kvm_works() { false; }
                start_guests_part() { echo "starts guests"; }
                start_guest_part() { echo "starts $2 on $3"; }
                start_part() { :; }
                select_foreign_tests >/dev/null
                select_other_rows
                test_in_parts
                """);
        assertThat(out).startsWith("""
                provides trixie on qemu
                provides trixie on uml
                provides bookworm on qemu
                provides backports on qemu
                provides trixie-arm64 on qemu
                starts guests
                """);
        assertThat(out).contains("starts bookworm on qemu", "starts backports on qemu", "starts trixie-arm64 on qemu");
    }

    /** Otherwise a later run would take the rest of an image for the image. */
    @Test
    void anInterruptedRemoval() throws IOException, InterruptedException {
        Files.createDirectories(cache.resolve("image-trixie-0123456789ab/root"));
        run("(remove_tree() { exit 1; }; with_cache_locked remove_cache) || true");
        assertThat(cache).isDirectoryNotContaining("glob:**/image-*");
        run("with_cache_locked remove_cache");
        assertThat(Files.exists(cache)).isFalse();
        Files.createDirectory(cache);
    }

    @Test
    void aRemovalOfAnImageInUse() throws IOException, InterruptedException {
        Path image = Files.createDirectories(cache.resolve("image-trixie-0123456789ab"));
        Files.createFile(image.resolve("lock"));
        String out = run("""
                with_cache_locked hold_in_cache "$cache/image-trixie-0123456789ab"
                (with_cache_locked remove_cache 2>&1) || echo "status $?"
                """);
        assertThat(out).isEqualTo("rxe: " + cache.toRealPath() + " is in use: end the other runs first\nstatus 1\n");
        assertThat(image).exists();
    }

    /** The lock of a removed cache is a file that no other script sees. */
    @Test
    void aScriptThatWaitsForARemoval() throws IOException, InterruptedException {
        String out = run("""
                remove_after_the_other_waits() {
                    (exec {cache_lock}>&-; with_cache_locked lock_is_there) &
                    until grep -qs -- "-> .*FLOCK .*:$(stat -c %i "$cache/lock") " /proc/locks; do sleep 0.01; done
                    remove_cache
                }
                lock_is_there() { [[ -e $cache/lock ]] && echo "made again"; }
                with_cache_locked remove_after_the_other_waits
                wait $!
                """);
        assertThat(out).isEqualTo("made again\n");
    }

    /** apt fails if the default release of this machine is not among the private lists. */
    @Test
    void theKernelOfUserModeLinuxIgnoresTheDefaultRelease(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path programs = Files.createDirectory(directory.resolve("bin"));
        Path apt = Files.writeString(
                programs.resolve("apt-get"),
                "#!/bin/sh\nfor word; do shift; [ \"$word\" = update ] || set -- \"$@\" \"$word\"; done\n"
                        + "exec apt-config \"$@\" dump --format '%f=%v%n' APT::Default-Release\n");
        Files.setPosixFilePermissions(apt, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path settings = Files.writeString(directory.resolve("apt.conf"), "APT::Default-Release \"bookworm\";\n");
        Rxe.Finished finished = Rxe.command(
                        "bash",
                        PARTS.resolve("build-uml").toString(),
                        "trixie-backports",
                        "http://localhost",
                        cache.toString())
                .environment("PATH", programs + ":" + System.getenv("PATH"))
                .environment("APT_CONFIG", settings.toString())
                .run();
        assertThat(finished.status()).as(finished.toString()).isNotZero();
        assertThat(cache.resolve("build.log")).content().startsWith("APT::Default-Release=\n");
    }

    private String localRepository(String setting) throws IOException, InterruptedException {
        return run("""
                source "$parts/maven.sh"
                HOME=/home/variable
                unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS MAVEN_ARGS
                getent() { [[ $* == "passwd $UID" ]] && echo "user:x:$UID:0:The user,,:/home/database:/bin/sh"; }
                """ + setting + "\necho \"$(local_repository)\"\n").strip();
    }

    /** In a container job of GitHub Actions, HOME is not the home directory of the user database. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                    ""                                                           | /home/database/.m2/repository
                    getent() { false; }                                          | /home/variable/.m2/repository
                    getent() { echo 'user:x:0:0::/:/bin/sh'; }                   | /home/variable/.m2/repository
                    MAVEN_OPTS=-Duser.home=/a                                    | /a/.m2/repository
                    MAVEN_OPTS='-ea -Duser.home=/a -Duser.home=/b -Xmx9m'        | /b/.m2/repository
                    JAVA_TOOL_OPTIONS=-Duser.home=/a                             | /a/.m2/repository
                    JAVA_TOOL_OPTIONS=-Duser.home=/a MAVEN_OPTS=-Duser.home=/b   | /b/.m2/repository
                    JAVA_TOOL_OPTIONS=-Duser.home=/a JDK_JAVA_OPTIONS=-Duser.home=/b | /b/.m2/repository
                    MAVEN_OPTS='-Duser.home=/a -Dmaven.repo.local=/r'            | /r
                    MAVEN_OPTS=-Dmaven.repo.local=/r MAVEN_ARGS='-o -Dmaven.repo.local=/s' | /s
                    """)
    void theLocalRepositoryOfMaven(String setting, String repository) throws IOException, InterruptedException {
        assertThat(localRepository(setting)).isEqualTo(repository);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    <localRepository>/r</localRepository>                                    | /r
                    <localRepository> /r r </localRepository>                                | /r r
                    <localRepository>${user.home}/r</localRepository>                        | HOME/r
                    <!-- for example: - <localRepository>/r</localRepository> -->            | HOME/.m2/repository
                    <localRepository>/r</localRepository> <!-- <localRepository>/s</localRepository> --> | /r
                    """)
    void theLocalRepositoryOfTheSettings(String element, String repository, @TempDir Path home)
            throws IOException, InterruptedException {
        Files.writeString(
                Files.createDirectory(home.resolve(".m2")).resolve("settings.xml"),
                "<settings>\n" + element.replace(" ", "\n ") + "\n</settings>\n");
        String expected = repository.replace("HOME", home.toString()).replace(" ", "\n ");
        assertThat(localRepository("MAVEN_OPTS=-Duser.home=" + home)).isEqualTo(expected);
    }

    @Test
    void theHomeDirectoryOfJava() throws IOException, InterruptedException {
        String out = run("""
                source "$parts/maven.sh"
                HOME=/home/variable
                unset MAVEN_OPTS
                java_home_directory
                """);
        assertThat(out).isEqualTo(System.getProperty("user.home") + "\n");
    }
}
