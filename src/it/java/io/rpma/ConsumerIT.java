// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import io.rpma.testing.Jvm;
import io.rpma.testing.Rxe;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user who follows the README, docs/own-project.md and docs/guide from an empty home directory. The commands are
 * those of the documents, and git clones this checkout instead of the published one.
 */
@Tag("consumers")
class ConsumerIT {
    private static final String REPOSITORY = "https://github.com/rpma-java/rpma-java";
    private static final String ONE_TEST = "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0";
    private static final String SHELL_COMMAND = "$ ";

    @TempDir
    private static Path temporary;

    private static Path home;
    private static Path library;
    private static Path project;

    /**
     * Makes the project of the README. Maven gets the files that the build has fetched, and the rest from the network.
     */
    @BeforeAll
    static void followTheReadme() throws IOException, InterruptedException {
        home = temporary.toRealPath();
        library = home.resolve("rpma-java");
        project = home.resolve("greeting");
        Files.writeString(Files.createDirectory(home.resolve(".m2")).resolve("settings.xml"), """
                <settings>
                  <profiles>
                    <profile>
                      <id>build</id>
                      <repositories><repository><id>build</id><url>%1$s</url></repository></repositories>
                      <pluginRepositories>
                        <pluginRepository><id>build</id><url>%1$s</url></pluginRepository>
                      </pluginRepositories>
                    </profile>
                  </profiles>
                  <activeProfiles><activeProfile>build</activeProfile></activeProfiles>
                </settings>
                """.formatted(
                        Path.of(System.getProperty("localRepository")).toUri()));
        assertThat(run(home, Document.README.block("project"))).contains(ONE_TEST);
    }

    /** Runs a script with the shell, and returns its output. */
    private static String run(Path directory, String script) throws IOException, InterruptedException {
        Rxe.Finished finished = command(directory, script).run();
        assertThat(finished.status()).as(finished.toString()).isZero();
        return finished.out();
    }

    private static Rxe command(Path directory, String script) {
        return Rxe.command("bash", "-e", "-c", script)
                .in(directory)
                .environment("HOME", home.toString())
                // Java takes the home directory from /etc/passwd, and not from HOME.
                .environment("MAVEN_OPTS", "-Duser.home=" + home)
                .environment("GRADLE_OPTS", "-Dorg.gradle.daemon=false -Duser.home=" + home)
                .environment("RPMA_CACHE", Rxe.cache().toAbsolutePath().toString())
                .environment("RPMA_ADDRESS", "")
                .environment("GIT_CONFIG_COUNT", "1")
                .environment("GIT_CONFIG_KEY_0", "url." + Path.of("").toAbsolutePath() + ".insteadOf")
                .environment("GIT_CONFIG_VALUE_0", REPOSITORY);
    }

    @Test
    void theTestIsSkippedWithoutADevice() throws IOException, InterruptedException {
        assertThat(run(project, "mvn test")).contains("Tests run: 1", "Skipped: 1");
    }

    @Test
    void mavenInAGuest() throws IOException, InterruptedException {
        assertThat(run(project, Document.OWN_PROJECT.block("maven-in-a-guest"))).contains(ONE_TEST);
    }

    @Test
    void gradle() throws IOException, InterruptedException {
        assertThat(run(project, Document.OWN_PROJECT.block("gradle"))).contains("1 tests successful", "0 tests failed");
    }

    /** Ratis finds the transport by the dependency and the properties of its document. */
    @Test
    void ratis() throws IOException, InterruptedException {
        run(library, Document.RATIS.block("install"));
        Path replica = home.resolve("replica");
        Path test = Files.createDirectories(replica.resolve("src/test/java")).resolve("ReplicaTest.java");
        String pom = Files.readString(project.resolve("pom.xml"));
        Files.writeString(
                replica.resolve("pom.xml"),
                pom.replaceFirst("<dependencies>", "<dependencies>\n" + Document.RATIS.block("dependency")));
        Files.writeString(test, """
                import static org.junit.jupiter.api.Assertions.assertInstanceOf;

                import io.rpma.ratis.RpmaConfigKeys;
                import io.rpma.ratis.RpmaRpcType;
                import org.apache.ratis.RaftConfigKeys;
                import org.apache.ratis.conf.Parameters;
                import org.apache.ratis.conf.RaftProperties;
                import org.apache.ratis.rpc.RpcType;
                import org.apache.ratis.server.ServerFactory;
                import org.junit.jupiter.api.Test;

                class ReplicaTest {
                    @Test
                    void hasAFactory() {
                        %s
                        RpcType type = RpcType.valueOf(properties.get("raft.rpc.type"));
                        assertInstanceOf(ServerFactory.class, type.newFactory(new Parameters()));
                    }
                }
                """.formatted(Document.RATIS.block("configuration")));
        assertThat(run(replica, "mvn test")).contains(ONE_TEST);
    }

    /** The first commands of the workflow are those of the README, and the packages are installed. */
    @Test
    void theWorkflow() throws IOException, InterruptedException {
        List<String> commands = Pattern.compile("(?m)^ +- run: (.*)$")
                .matcher(Files.readString(project.resolve(".github/workflows/test.yml")))
                .results()
                .map((MatchResult command) -> command.group(1))
                .collect(Collectors.toList());
        String install = "sudo apt-get update && sudo apt-get install -y ";
        assertThat(commands.get(0)).startsWith(install);
        Tool.run("sh", "-c", "dpkg-query -W " + commands.get(0).substring(install.length()));
        assertThat(commands.subList(1, 3))
                .isEqualTo(Document.README.block("project").lines().limit(2).collect(Collectors.toList()));
        assertThat(commands).hasSize(4);
        assertThat(run(project, commands.get(3))).contains(ONE_TEST);
    }

    /** The programs find each other as on two hosts. */
    @Test
    void twoProgramsInAGuest() throws IOException, InterruptedException {
        assertThat(run(project, Document.OWN_PROJECT.block("two-programs")))
                .isEqualTo(Document.FIRST_PROCESSES.block("two-processes-output"));
    }

    /** The tests above run the other commands. */
    @Test
    void theFirstPageOfTheGuide() throws IOException, InterruptedException {
        List<String> commands =
                Document.FIRST_PROCESSES.block("project").lines().collect(Collectors.toList());
        assertThat(commands.subList(0, 4))
                .isEqualTo(Document.README.block("project").lines().limit(4).collect(Collectors.toList()));
        assertThat(commands).hasSize(5);
        run(project, commands.get(4));
        assertThat(Document.FIRST_PROCESSES.block("two-processes"))
                .isEqualTo(Document.OWN_PROJECT.block("two-programs"));
        assertThat(Document.README.block("project")).endsWith(Document.GUIDE_TESTING.block("test"));
    }

    /** Two linked guests are the two hosts. The address of the first one is that of the page. */
    @Test
    void twoHostsOfTheGuide() throws IOException, InterruptedException {
        Files.createDirectories(project.resolve("cable"));
        run(project, Document.FIRST_PROCESSES.block("project").lines().skip(4).collect(Collectors.joining("\n")));
        try (Jvm.Running server =
                onHost(1, Document.FIRST_PROCESSES.block("server-host")).start()) {
            server.awaitLine("listening at 10.0.0.1");
            Rxe.Finished client =
                    onHost(2, Document.FIRST_PROCESSES.block("client-host")).run();
            assertThat(client.status()).as(client.toString()).isZero();
            assertThat(client.out()).isEqualTo("read: Hello\n");
            Jvm.Finished end = server.awaitEnd();
            assertThat(end.status()).as(end.toString()).isZero();
            assertThat(end.out()).isEqualTo("listening at 10.0.0.1\nHello\n");
        }
    }

    /** The shell of the host gets the commands as an argument, so that nothing of them is changed. */
    private static Rxe onHost(int side, String commands) {
        return command(
                        project,
                        "exec ~/rpma-java/native/rxe run --memory 1024 --link cable:" + side
                                + " sh -e -c \"$COMMANDS\"")
                .environment("COMMANDS", commands);
    }

    @Test
    void theMapOfTheGuide() throws IOException, InterruptedException {
        run(home, Document.REPLICATED_MAP.block("map"));
        Path map = home.resolve("map");
        assertThat(run(map, Document.REPLICATED_MAP.block("restart")))
                .isEqualTo(Document.REPLICATED_MAP.block("restart-output"));
        try (Jvm.Running store =
                command(map, Document.REPLICATED_MAP.block("store-host")).start()) {
            store.awaitLine("offering RpmaMemory");
            try (Jvm.Running client =
                    command(map, Document.REPLICATED_MAP.block("map-host")).start()) {
                client.awaitLine("0 entries");
                try (Writer input = client.process().outputWriter()) {
                    input.write("put one 1\n");
                }
                Jvm.Finished end = client.awaitEnd();
                assertThat(end.status()).as(end.toString()).isZero();
                assertThat(end.out()).endsWith("one = 1\n");
            }
        }
    }

    @Test
    void theScriptOfTheTools() throws IOException, InterruptedException {
        assertThat(run(project, Document.OWN_PROJECT.block("tools"))).contains("rxe0", "PORT_ACTIVE");
    }

    /** A module of a build needs the classes of other modules. */
    @Test
    void aModuleSeesTheWholeProject() throws IOException, InterruptedException {
        Path module = Files.createDirectory(project.resolve("module"));
        Files.writeString(
                project.resolve("Root.java"),
                "class Root { public static void main(String[] arguments) { System.out.println(\"seen\"); } }");
        assertThat(run(module, "../rdma/bin/java ../Root.java")).isEqualTo("seen\n");
    }

    @Test
    void theExampleOfTheReadmeInAContainer() throws IOException, InterruptedException {
        Files.writeString(library.resolve("Hello.java"), Document.README.block("hello"));
        List<String> lines = Document.README.block("hello-output").lines().collect(Collectors.toList());
        String commands = lines.stream()
                .filter(line -> line.startsWith(SHELL_COMMAND))
                .map(line -> line.substring(SHELL_COMMAND.length()) + "\n")
                .collect(Collectors.joining());
        String output = lines.stream()
                .filter(line -> !line.startsWith(SHELL_COMMAND))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
        assertThat(run(library, "native/rxe run sh -e <<'END'\n" + commands + "END"))
                .isEqualTo(output);
        assertThat(run(library, Document.CONTAINERS.block("commands")))
                .contains("PORT_ACTIVE")
                .endsWith(output);
    }

    /** CI runs the second of the two commands. */
    @Test
    void theTwoCommands() throws IOException, InterruptedException {
        List<String> commands = Document.README
                .block("commands")
                .lines()
                .map(line -> line.replaceFirst(" +#.*", ""))
                .collect(Collectors.toList());
        assertThat(commands).hasSize(2);
        assertThat(Path.of(".ci/run")).content().contains(commands.get(1));
        assertThat(run(library, commands.get(0))).contains("SHA-256");
    }
}
