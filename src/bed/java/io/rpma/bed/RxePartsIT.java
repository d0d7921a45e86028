// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
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

/** Functions of the parts of {@code native/rxe}, with made-up functions for the rest of the script. */
@Tag("bed")
class RxePartsIT {
    /** The variables that the script sets before a part runs. */
    private static final String SCRIPT = """
            set -euo pipefail
            parts=$1 cache=$2
            program_name=native/rxe scripts=$parts checkout=$parts/../..
            for part in common cache host image maven bed emulator uml test; do
                source "$parts/$part.sh"
            done
            row=trixie wanted_bed=auto bed=auto all_rows=false wanted_groups=() sanitize=false memory=512 time_limit=3600
            """;

    /** Functions that only print their names. No guest is made. */
    private static final String STUBS = """
            kvm_works() { $kvm; }
            missing_for_guest() { echo "image $1"; }
            await_guest() { echo "waits for $1 on $2"; }
            make_guest_java() { :; }
            build_foreign_libraries() { :; }
            find_jdk_with_virtual_threads() { echo /jdk; }
            start_part() { echo "starts $1"; }
            kvm=false test_parts=$cache
            """;

    @TempDir
    private Path cache;

    private String run(String script) throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.command(
                        "bash", "-c", SCRIPT + script, "test", Rxe.PARTS.toString(), cache.toString())
                .run();
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out();
    }

    /** The options, the groups of the run, the other images, and the guests. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                                         | library                   | ''                              | trixie uml,trixie qemu
                    'bed=kvm kvm=true'                         | library                   | ''                              | trixie kvm
                    'bed=host'                                 | library                   | ''                              | ''
                    'sanitize=true'                            | library                   | ''                              | trixie qemu
                    'row=bookworm'                             | library                   | ''                              | bookworm uml,bookworm qemu
                    'wanted_groups=(hosts power-cuts)'         | hosts power-cuts          | ''                              | trixie uml
                    'wanted_groups=(power-cuts) kvm=true'      | power-cuts                | ''                              | trixie kvm
                    'wanted_groups=(ratis)'                    | ratis                     | ''                              | trixie uml
                    'wanted_groups=(hosts) kvm=true'           | hosts                     | ''                              | trixie uml
                    'wanted_groups=(pmem)'                     | pmem                      | ''                              | trixie qemu
                    'wanted_groups=(aarch64)'                  | aarch64                   | trixie-arm64                    | trixie-arm64 qemu
                    'wanted_groups=(aarch64) row=trixie-arm64' | aarch64                   | trixie-arm64                    | trixie-arm64 qemu
                    'row=trixie-arm64 bed=qemu'                | library                   | ''                              | trixie-arm64 qemu
                    'wanted_groups=(images)'                   | images                    | bookworm backports              | bookworm qemu,backports qemu
                    'sanitize=true all_rows=true'              | library images            | bookworm backports              | trixie qemu,bookworm qemu,backports qemu
                    'all_rows=true bed=host row=bookworm'      | library checks soak examples pmem bed hosts consumers power-cuts aarch64 ratis ratis-suite images | trixie backports trixie-arm64 | bookworm uml,bookworm qemu,trixie uml,trixie qemu,backports qemu,trixie-arm64 qemu
                    """)
    void theGroupsOfARun(String options, String groups, String rows, String guests)
            throws IOException, InterruptedException {
        String out = run(STUBS + options + """

                select_groups
                select_other_rows
                echo "${wanted_groups[*]}|${other_rows[*]}|$(list_guests; IFS=,; echo "${guests[*]}")"
                """);
        assertThat(out).isEqualTo(groups + "|" + rows + "|" + guests + "\n");
    }

    /** The command, its options, what this machine has, and the bed. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    demo   | ''              | uml           | qemu
                    demo   | ''              | uml kvm       | kvm
                    demo   | ''              | uml kvm host  | host
                    demo   | ''              | ''            | qemu
                    demo   | wanted_bed=uml  | uml kvm       | uml
                    demo   | wanted_bed=qemu | uml           | qemu
                    demo   | type=siw        | uml           | uml
                    demo   | ratis_demo=true | uml           | uml
                    bench  | ''              | uml           | qemu
                    jshell | ''              | uml           | uml
                    jshell | ''              | ''            | qemu
                    """)
    void theBedOfACommand(String command, String option, String has, String bed)
            throws IOException, InterruptedException {
        String out = run("""
                has=' %s ' device= nvdimm= link= times= type=rxe quick_bench=false ratis_demo=false host_device=rxe0 arguments=()
                source "$parts/commands.sh"
                find_host_device() { [[ $has == *' host '* ]]; }
                make_host_device() { false; }
                kvm_works() { [[ $has == *' kvm '* ]]; }
                uml_is_built() { [[ $has == *' uml '* ]]; }
                library_is_built() { false; }
                build() { echo "$bed"; exit; }
                %s
                command_%s
                """.formatted(has, option, command));
        assertThat(out).isEqualTo(bed + "\n");
    }

    @Test
    void sanitizersTestOnlyTheLibrary() throws IOException, InterruptedException {
        String out = run(STUBS + "(sanitize=true wanted_groups=(bed) && select_groups) 2>&1 || echo $?");
        assertThat(out).isEqualTo("rxe: --sanitize is for the group library (see native/rxe --help)\n2\n");
        for (String bed : List.of("host", "kvm", "auto")) {
            String parts = run(STUBS + "sanitize=true host_device=rxe0 host_address=192.0.2.1 bed=" + bed
                    + "\nselect_groups\ntest_in_parts\n");
            assertThat(parts).contains("starts stand-in\n").doesNotContain("apps", "ratis");
        }
    }

    /** The kernel of user-mode Linux compiles for minutes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    '42' | host stand-in host-apps stand-in-ratis stand-in-virtual waits:trixie:qemu qemu waits:trixie:uml uml uml-apps siw uml-processes uml-ratis siw-ratis
                    ''   | uml uml-apps host stand-in host-apps stand-in-ratis stand-in-virtual qemu siw uml-processes uml-ratis siw-ratis
                    """)
    void testsWithoutAGuestRunWhileItIsMade(String makingJob, String order) throws IOException, InterruptedException {
        String out = run(STUBS + """
                select_groups
                test_in_parts
                """.replace("test_in_parts", "making_jobs=(" + makingJob + "); test_in_parts"));
        List<String> steps = new ArrayList<>();
        for (String line : out.lines().distinct().toList()) {
            if (!makingJob.isEmpty() || !line.startsWith("waits")) {
                steps.add(line.replaceAll("^starts ", "").replaceAll("^waits for (.*) on ", "waits:$1:"));
            }
        }
        assertThat(String.join(" ", steps)).isEqualTo(order);
    }

    @Test
    void aGuestThatCanNotBeMadeFailsItsParts() throws IOException, InterruptedException {
        String out = run(STUBS + """
                await_guest() { false; }
                select_groups
                test_in_parts >&2
                printf '%s\n' "${failures[@]}"
                """);
        assertThat(out.lines()).hasSize(7).allMatch(line -> line.contains("the guest could not be made"));
    }

    /** The files, from the oldest to the newest, and what is built. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    pom.xml src/main/A.java target/rpma-java-1.0.jar                        | library
                    pom.xml src/main/A.java target/rpma-java-1.0.jar src/test/B.java        | library
                    pom.xml src/main/A.java target/rpma-java-1.0-sources.jar                | ''
                    src/main/A.java target/rpma-java-1.0.jar pom.xml                        | ''
                    pom.xml src/main/A.java target/rpma-java-1.0.jar target/rpma-java-1.0-tools.jar             | library all
                    pom.xml target/rpma-java-1.0.jar target/rpma-java-1.0-tools.jar src/main/A.java             | ''
                    pom.xml src/main/A.java target/rpma-java-1.0.jar target/.rxe-built      | library all
                    """)
    void whatMavenHasBuiltIsNotBuiltAgain(String files, String built) throws IOException, InterruptedException {
        String script = """
                checkout=$cache row=trixie seconds=1000000000
                mkdir -p "$checkout"/{native,target/apps/lib,src/{main,test}}
                for file in %s; do
                    touch -d "@$((seconds++))" "$checkout/$file"
                done
                library_is_built && echo library
                is_built && echo all
                true
                """;
        assertThat(String.join(" ", run(script.formatted(files)).lines().toList()))
                .isEqualTo(built);
    }

    /** The EFLAGS of a processor, and those of a crash in a guest of QEMU 7.2: half of an address. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    RSP: 0018:ffffb1ec404c3a70 EFLAGS: 00010246 | ''
                    RSP: 0018:ffffb1ec404c3a70 EFLAGS: 9f76f602 | EFLAGS is 9f76f602, which no processor has
                    RSP: 0018:ffffb1ec404c3a70 EFLAGS: 00010244 | EFLAGS is 00010244, which no processor has
                    Kernel panic - not syncing                  | ''
                    """)
    void impossibleStatesOfAKernel(String line, String sign) throws IOException, InterruptedException {
        Path console = Files.writeString(cache.resolve("console"), "[    1.0] " + line + "\r\n");
        assertThat(run("impossible_kernel_state '" + console + "' || true").strip())
                .isEqualTo(sign);
    }

    /**
     * The parts of a file hs_err that matter: the processor, the signal, EFLAGS, TRAPNO, and the bytes at and before
     * the pc.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    QEMU TCG CPU | SIGSEGV | 10246    | d | 00 00 | 31 c0 89 df | a fault of the instruction 31 c0 89, which accesses no memory
                    QEMU TCG CPU | SIGSEGV | 10246    | d | 00 00 | 48 89 c3 df | a fault of the instruction 48 89 c3, which accesses no memory
                    QEMU TCG CPU | SIGSEGV | 10246    | d | 00 00 | 48 89 03 df | ''
                    QEMU TCG CPU | SIGSEGV | 10246    | e | 00 00 | 31 c0 89 df | ''
                    QEMU TCG CPU | SIGSEGV | 80010246 | e | 00 00 | 48 89 03 df | EFLAGS is 80010246, which no processor has
                    QEMU TCG CPU | SIGILL  | 10246    | 6 | e9 12 | 34 56 78 90 | an illegal instruction two bytes behind a jump that was just written
                    QEMU TCG CPU | SIGILL  | 10246    | 6 | 0f 12 | 34 56 78 90 | ''
                    AMD EPYC     | SIGSEGV | 10246    | d | 00 00 | 31 c0 89 df | ''
                    """)
    void impossibleStatesOfAJvm(
            String processor, String signal, String flags, String trap, String before, String bytes, String sign)
            throws IOException, InterruptedException {
        String zeros = "00 ".repeat(14);
        Path report = Files.writeString(cache.resolve("hs_err_1.log"), """
                siginfo: si_signo: 11 (%s), si_code: 128 (SI_KERNEL), si_addr: 0x0000000000000000
                RIP=0x00007f5805755f14, EFLAGS=0x%016x, CSGSFS=0x002b000000000033, ERR=0x0000000000000000
                  TRAPNO=0x000000000000000%s
                Instructions: (pc=0x00007f5805755f14)
                  0x00007f5805755f04:   %s%s
                =>0x00007f5805755f14:   %s %s
                model name	: %s version 2.5+
                """.formatted(
                        signal, Long.parseLong(flags, 16), trap, zeros, before, bytes, zeros, processor));
        assertThat(run("impossible_jvm_state '" + report + "' || true").strip()).isEqualTo(sign);
    }

    /** Only the first crash of the emulator in a run is no failure. */
    @Test
    void aPartInWhichTheEmulatorCrashesRunsOnceMore() throws IOException, InterruptedException {
        String out = run("""
                start_part() { echo "starts $1 with $3, $4"; }
                test_parts=$cache/parts checkout=$cache
                mkdir -p "$test_parts"/{qemu,other}
                : >"$test_parts/begun"
                for part in qemu other; do
                    part_title[$part]="tests of $part" part_command[$part]="mvn 'a b'"
                done
                repeats_part qemu || echo "no sign"
                echo sign >"$test_parts/qemu/crashes"
                echo log >"$test_parts/qemu/log"
                repeats_part qemu
                cat "$test_parts/qemu/crashed/"{log,crashes}
                repeats_part qemu || echo "ended"
                echo "another sign" >"$test_parts/other/crashes"
                repeats_part other || echo "${failures[*]}"
                """);
        assertThat(out).isEqualTo("""
                no sign
                starts qemu with mvn, a b
                log
                sign
                ended
                tests of other: the emulator has crashed a second time in this run: another sign
                """);
    }

    @Test
    void aFailureNamesTheFileWithItsOutput() throws IOException, InterruptedException {
        Path reports = Files.createDirectories(cache.resolve("target/parts/uml/failsafe-reports"));
        Files.writeString(reports.resolve("TEST-io.rpma.WaitIT.xml"), """
                <testsuite name="io.rpma.WaitIT" tests="2" errors="0" skipped="0" failures="1">
                  <testcase name="passes" classname="io.rpma.WaitIT" time="0.1"/>
                  <testcase name="fails" classname="io.rpma.WaitIT" time="0.1">
                    <failure message="not &lt;2&gt;" type="AssertionError"><![CDATA[...]]></failure>
                """);
        String out = run("""
                checkout=$cache
                name_failed_tests "$cache/target/parts/uml/failsafe-reports" "device tests"
                echo "${failures[*]}"
                """);
        assertThat(out)
                .isEqualTo("device tests: io.rpma.WaitIT.fails: AssertionError: not <2> "
                        + "(see target/parts/uml/failsafe-reports/TEST-io.rpma.WaitIT.xml)\n");
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
                        Rxe.PARTS.resolve("build-uml").toString(),
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
