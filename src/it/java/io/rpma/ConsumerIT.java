package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A project outside of the checkout that uses the library, with the commands of docs/own-project.md. */
@Tag("guests")
@Timeout(600)
class ConsumerIT {
    private static final Path COORDINATES = Path.of("io", "github", "rpma-java", "rpma-java", "0.1.0-SNAPSHOT");
    private static final String ONE_TEST = "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0";

    @TempDir
    private Path temporary;

    private Path project;
    private Path repository;
    private Path settings;

    /** Copies the project, and makes a local repository that has the library and gets the rest from that of the build. */
    @BeforeEach
    void makeProject() throws IOException, InterruptedException {
        project = temporary.toRealPath().resolve("greeting");
        Tool.run("cp", "-a", "src/it/consumer/maven", project.toString());
        repository = project.resolveSibling("repository");
        Path library = Files.createDirectories(repository.resolve(COORDINATES));
        String name = "rpma-java-0.1.0-SNAPSHOT";
        Files.copy(Path.of("pom.xml"), library.resolve(name + ".pom"));
        Tool.run("jar", "--create", "--file", library.resolve(name + ".jar").toString(), "-C", "target/classes", ".");
        settings = project.resolveSibling("settings.xml");
        Files.writeString(settings, """
                <settings>
                  <mirrors>
                    <mirror>
                      <id>central</id>
                      <url>%s</url>
                      <mirrorOf>*</mirrorOf>
                    </mirror>
                  </mirrors>
                </settings>
                """.formatted(
                        Path.of(System.getProperty("localRepository")).toUri()));
    }

    private Rxe inProject(List<String> command) {
        return Rxe.command(command.toArray(new String[0]))
                .in(project)
                .environment("RXE", Rxe.PROGRAM.toString())
                .environment("MAVEN_OPTS", "-Dmaven.repo.local=" + repository);
    }

    private Rxe maven(String... arguments) {
        List<String> command = new ArrayList<>(List.of("mvn", "-B", "-ntp", "-s", settings.toString()));
        command.addAll(List.of(arguments));
        return inProject(command);
    }

    private static void assertTested(Rxe.Finished finished) {
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).contains(ONE_TEST);
    }

    @Test
    void theJvmOfTheTestsInAGuest() throws IOException, InterruptedException {
        assertTested(maven("test", "-Djvm=" + project.resolve("rdma/bin/java")).run());
    }

    /** The tests are skipped on a machine without a device. A guest then runs Maven offline. */
    @Test
    void mavenInAGuest() throws IOException, InterruptedException {
        assertThat(maven("test").environment("RPMA_ADDRESS", "").run().out()).contains("Tests run: 1", "Skipped: 1");
        Path maven = project.resolveSibling("maven");
        Tool.run("sh", "-c", "cp -rL \"$(mvn -version | sed -n 's/^Maven home: //p')\" \"$1\"", "sh", maven.toString());
        assertTested(inProject(List.of(
                        Rxe.PROGRAM.toString(),
                        "run",
                        "--share",
                        maven + ":ro",
                        maven.resolve("bin/mvn").toString(),
                        "-o",
                        "-B",
                        "-Dmaven.repo.local=" + repository,
                        "test"))
                .run());
    }

    /** The programs find each other as on two hosts. */
    @Test
    void twoProgramsInAGuest() throws IOException, InterruptedException {
        assertThat(maven("compile").run().status()).isZero();
        String java = "java --enable-native-access=ALL-UNNAMED -cp target/classes:"
                + repository.resolve(COORDINATES).resolve("rpma-java-0.1.0-SNAPSHOT.jar");
        Rxe.Finished finished = inProject(List.of(
                        Rxe.PROGRAM.toString(),
                        "run",
                        "sh",
                        "-c",
                        java + " greeting.Server >server.log & server=$!\n"
                                + "until grep -qs listening server.log; do kill -0 $server || exit; sleep 0.1; done\n"
                                + java + " greeting.Client Hello from a client && wait $server && cat server.log"))
                .run();
        assertThat(finished.out()).isEqualTo("listening at 10.0.0.1\nHello from a client\n");
        assertThat(finished.status()).isZero();
    }
}
