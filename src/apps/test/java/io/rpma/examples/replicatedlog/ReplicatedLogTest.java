// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.support.CommandLines;
import io.rpma.testing.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, in the cases that need no device. */
class ReplicatedLogTest {
    @TempDir
    private Path directory;

    private static Jvm.Finished run(String... arguments) throws InterruptedException {
        return Jvm.likeThis().run(ReplicatedLog.class, arguments);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "| Missing required subcommand",
                "replica --memory auto | Missing required option: '--address=ADDRESS'",
                "replica --address 10.0.0.1 | Missing required option: '--memory=PATH'",
                "replica --address 10.0.0.1 --memory auto --port 65536 | --port must be 1 to 65535",
                "replica --address 10.0.0.1 --memory auto --size 4k | --size must be at least 4112 bytes",
                "replica --address 10.0.0.1 --memory auto --size many | 'many' is no size",
                "append | Missing required option: '--replica=ADDRESS[:PORT]'",
                "append --replica a | --replica must be given twice, for two replicas",
                "append --replica a --replica b --replica c | --replica must be given twice",
                "append --replica a --replica a:7204 | --replica must name two different replicas",
                "append --replica a --replica b:0 | 'b:0' has no port: it is 1 to 65535",
                "append --replica a --replica b:x | 'b:x' is no address",
                "append --replica a --replica b --writers 0 | --writers must be 1 to 1000",
                "append --replica a --replica b --writers 1001 | --writers must be 1 to 1000",
                "append --replica a --replica b --records 0 | --records must be at least 1",
                "append --replica a --replica b --size 31 | --size must be 32 to 65536",
                "append --replica a --replica b --size 65537 | --size must be 32 to 65536",
                "append --replica a --replica b --timeout 0 | --timeout must be at least 1 second",
                "append --replica a --replica b --stdin --writers 2 | --stdin can't be combined with --writers",
                "append --replica a --replica b --stdin --size 100 | --stdin can't be combined with --writers",
                "append --replica a --replica b FILE | the argument 'FILE' is superfluous",
                "show | Missing required option: '--memory=PATH'",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new ReplicatedLog(), arguments, message);
    }

    @Test
    void theStatusOfMisuse() throws InterruptedException {
        Jvm.Finished end = run("append", "--replica", "a");
        assertThat(end.status()).as(end.toString()).isEqualTo(2);
        assertThat(end.err()).startsWith("replicatedlog append: --replica must be given twice");
    }

    @Test
    void waitsForAHostThatIsDown() throws Exception {
        Jvm.Finished end = run("append", "--replica", "192.0.2.1", "--replica", "192.0.2.2", "--timeout", "1");
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.out()).startsWith("waiting for 192.0.2.1:7204: ").hasLineCount(1);
        assertThat(end.err()).startsWith("replicatedlog append: nothing was acknowledged within 1 s (--timeout): ");
    }

    @Test
    void anAddressOfNoDevice() throws Exception {
        Path memory = directory.resolve("memory");
        Jvm.Finished end = run("replica", "--address", "192.0.2.1", "--memory", memory.toString(), "--size", "64k");
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).startsWith("replicatedlog replica: ").hasLineCount(1);
        assertThat(memory).doesNotExist();
    }

    @Test
    void showsTheRecords() throws Exception {
        Path memory = Files.write(directory.resolve("log"), TestLog.of(8192, "one", "", "dr\u00e9i"));
        Jvm.Finished end = run("show", "--memory", memory.toString());
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out()).isEqualTo("1 3 one\n2 0 \n3 5 dr\u00e9i\n");
    }

    @Test
    void showsToNobody() throws Exception {
        Path memory = Files.write(directory.resolve("log"), TestLog.of(8192, "one", "two"));
        Jvm.Finished end = Jvm.likeThis()
                .under("sh", "-c", "exec \"$@\" >/dev/full", "sh")
                .run(ReplicatedLog.class, "show", "--memory", memory.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("replicatedlog show: the standard output can't be written\n");
    }

    @Test
    void showsWhereALogIsTorn() throws Exception {
        byte[] log = TestLog.of(8192, "one", "two", "three");
        log[4096 + 24 + 17]++;
        Path memory = Files.write(directory.resolve("log"), log);
        Jvm.Finished end = run("show", "--memory", memory.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.out()).isEqualTo("1 3 one\n");
        assertThat(end.err()).isEqualTo("replicatedlog show: record 2 at position 24 is torn: its checksum is wrong\n");
    }

    @Test
    void showsThatThereIsNoLog() throws Exception {
        Path memory = Files.write(directory.resolve("none"), new byte[8192]);
        Jvm.Finished end = run("show", "--memory", memory.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).contains("this is no log");
    }
}
