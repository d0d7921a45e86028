// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Arguments, streams and exit status of a command in a guest of user-mode Linux. */
@Tag("bed")
class UmlBedStreamsIT {
    private static final int MEGABYTES = 5;
    private static final int BROKEN_PIPE = 141;

    /** The length is no multiple of the size of any buffer on their way. */
    private static byte[] manyBytes() {
        byte[] bytes = new byte[(MEGABYTES << 20) + 12345];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    /** Runs a line of bash, in which "$@" stands for the command in a guest. */
    private static Rxe.Finished inShell(String line, String... command) throws IOException, InterruptedException {
        return Rxe.command("bash", "-c", line.replace("\"$@\"", Rxe.umlLine(command)))
                .run();
    }

    @Test
    void everyByteOfTheStreams() throws IOException, InterruptedException {
        byte[] bytes = manyBytes();
        // the two outputs differ, so that the test detects exchanged streams
        Rxe.Finished finished = Rxe.uml("sh", "-c", "tee /dev/stderr; printf out; printf err >&2")
                .input(bytes)
                .run();
        assertThat(finished.status()).isZero();
        assertThat(finished.bytes()).isEqualTo(join(bytes, "out"));
        assertThat(finished.errBytes()).isEqualTo(join(bytes, "err"));
    }

    private static byte[] join(byte[] bytes, String text) {
        byte[] added = text.getBytes(StandardCharsets.UTF_8);
        byte[] joined = Arrays.copyOf(bytes, bytes.length + added.length);
        System.arraycopy(added, 0, joined, bytes.length, added.length);
        return joined;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "o", "ou"})
    void fewBytes(String bytes) throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", "printf '" + bytes + "'; printf '" + bytes + "' >&2")
                .run();
        assertThat(finished.err()).isEqualTo(Rxe.BOOTING + bytes);
        assertThat(finished.out()).isEqualTo(bytes);
        assertThat(finished.status()).isZero();
    }

    @Test
    void theEndOfTheInput() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", "cat; echo end; cat; cat /dev/stdin; echo again")
                .input("no line's end".getBytes(StandardCharsets.UTF_8))
                .run();
        assertThat(finished.out()).isEqualTo("no line's endend\nagain\n");
        assertThat(finished.status()).isZero();
    }

    @Test
    void aClosedInput() throws IOException, InterruptedException {
        Rxe.Finished finished = inShell("\"$@\" <&-", "sh", "-c", "cat; echo end");
        assertThat(finished.toString()).isEqualTo("exit status 0\nend\n" + Rxe.BOOTING);
    }

    @Test
    void closedOutputs() throws IOException, InterruptedException {
        Rxe.Finished finished = inShell("\"$@\" >&- 2>&-", "sh", "-c", "echo out && echo err >&2 && exit 3");
        assertThat(finished.toString()).isEqualTo("exit status 3\n");
    }

    @Test
    void anInputThatIsNotReadToItsEnd() throws IOException, InterruptedException {
        Rxe.Finished finished = inShell("yes | \"$@\"; echo ${PIPESTATUS[*]}", "head", "-n", "1");
        assertThat(finished.out()).isEqualTo("y\n" + BROKEN_PIPE + " 0\n");
    }

    @Test
    void anInputThatStaysOpen() throws IOException, InterruptedException {
        // the command ends before the process that holds its input open
        Rxe.Finished finished =
                inShell("exec 3< <(exec sleep 1000); \"$@\" <&3; status=$?; kill $!; exit $status", "echo", "out");
        assertThat(finished.toString()).isEqualTo("exit status 0\nout\n" + Rxe.BOOTING);
    }

    @ParameterizedTest
    @CsvSource({"'\"$@\" | head -n 1', yes", "'\"$@\" 2>&1 >/dev/null | sed -n \"/^y/{p;q}\"', yes >&2"})
    void aReaderThatGoesAway(String line, String command) throws IOException, InterruptedException {
        Rxe.Finished finished = inShell(line + "; echo ${PIPESTATUS[*]}", "sh", "-c", command);
        assertThat(finished.out()).isEqualTo("y\n" + BROKEN_PIPE + " 0\n");
    }

    @Test
    void everyByteOfTheArguments() throws IOException, InterruptedException {
        String arguments =
                "'a b' \"it's\" '\"' $'two\\nlines\\n' '$HOME' '`id`' '' '\\' '*' -- -n $'\\t\\xff\\xc3\\xa9' '' ' '";
        Rxe.Finished here =
                Rxe.command("bash", "-c", "printf '%s\\0' " + arguments).run();
        Rxe.Finished there = inShell("\"$@\" " + arguments, "printf", "%s\\0");
        assertThat(there.err()).isEqualTo(Rxe.BOOTING);
        assertThat(there.bytes()).isEqualTo(here.bytes());
        assertThat(here.bytes()).contains(0xff, 0xc3, 0xa9);
    }

    @ParameterizedTest
    @CsvSource({
        "0, true",
        "3, exit 3",
        "255, exit 255",
        "143, kill -TERM $$",
        "139, kill -SEGV $$",
        "137, kill -KILL $$",
    })
    void theExitStatus(int status, String command) throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", command).run();
        assertThat(finished.status()).isEqualTo(status);
        assertThat(finished.err()).isEqualTo(Rxe.BOOTING);
    }

    @ParameterizedTest
    @CsvSource({"127, no-such-command, No such file or directory", "126, /etc/passwd, Permission denied"})
    void aCommandThatCanNotBeExecuted(int status, String command, String reason)
            throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml(command).run();
        assertThat(finished.status()).isEqualTo(status);
        assertThat(finished.err()).contains(command, reason);
    }

    @Test
    void whatTheCommandLeavesBehindEndsWithIt() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", "sleep 1000 & setsid sleep 1000 & echo out; exit 3")
                .run();
        assertThat(finished.toString()).isEqualTo("exit status 3\nout\n" + Rxe.BOOTING);
    }
}
