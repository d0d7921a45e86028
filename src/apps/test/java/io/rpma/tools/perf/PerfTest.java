// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaWcStatus;
import io.rpma.support.ByteSize;
import io.rpma.support.CommandLines;
import io.rpma.support.Connector;
import io.rpma.support.Listener;
import io.rpma.support.LostException;
import io.rpma.support.Offer;
import io.rpma.tools.Tools;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The command lines, the protocol, the loads and the reports of {@code perf}. {@code PerfIT} runs the command with a
 * device.
 */
class PerfTest {
    private static final PerfReport.Machine MACHINE =
            new PerfReport.Machine("2 x CPU", "6.12", "25", "1.3.0", "56.1", "rxe0", "10.0.0.1");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "perf | Missing required subcommand",
                "perf clent a | 'clent' is no command; see rpma-java perf --help",
                "perf server a b | the argument 'b' is superfluous",
                "perf server | Missing required parameter: 'ADDRESS'",
                "perf server a --port 0 | --port must be 1 to 65534",
                "perf server a --port 65535 | --port must be 1 to 65534",
                "perf server a --direct-write-to-pmem | --direct-write-to-pmem needs --memory",
                "perf server a --limit 1023 | --limit must be at least 1k",
                "perf server a --limit x | 'x' is no size",
                "perf client | Missing required parameter: 'ADDRESS'",
                "perf client a wrte | OPERATION must be one of write, read, write-imm, atomic-write, flush-visible,",
                "perf client a -s 0 | --size must be 1 to 64M",
                "perf client a -s 65M | --size must be 1 to 64M",
                "perf client a -s 4 flush-visible | --size must be at least 8 for a flush",
                "perf client a -s 4 -a | --all excludes --size",
                "perf client a -t 1,1025 | --tx-depth must be 1 to 1024",
                "perf client a -q 65 | --qp must be 1 to 64",
                "perf client a -l 0 | --post-list must be 1 to 1024",
                "perf client a -l 3 -t 1,6,16 | --post-list must divide the depth 16 of --tx-depth",
                "perf client a -n 0 | --iters must be at least 1",
                "perf client a -n 1 -D 1 | --iters excludes --duration",
                "perf client a -D 0 | --duration must be more than 0",
                "perf client a -W 0 | --timeout must be more than 0",
                "perf client a -p 65535 | --port must be 1 to 65534",
                "perf client a --csv /nowhere/f | --csv must name a file in an existing directory: /nowhere/f",
                "perf client a --charts /etc/passwd | --charts must name a directory that can be written, or made: /etc/passwd",
                "perf client a --charts /etc/passwd/d | --charts must name a directory that can be written, or made: /etc",
                "perf client a --json / | --json must name a file in an existing directory: /",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Tools(), arguments, message);
    }

    @ParameterizedTest
    @EnumSource
    void aRequest(PerfOperation operation) {
        PerfRequest request = new PerfRequest(operation, 8, 16, true);
        assertThat(PerfRequest.fromPrivateData(request.toPrivateData())).contains(request);
        assertThat(PerfOperation.of(operation.toString())).contains(operation);
    }

    @Test
    void aRequestOfAnotherProgramOrBeyondALimitIsRefused() {
        assertThat(PerfRequest.fromPrivateData(new byte[0])).isEmpty();
        assertThat(PerfRequest.fromPrivateData(new byte[56])).isEmpty();
        assertThat(PerfRequest.fromPrivateData("another program".getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
        assertRefused(0, 0x1234_5678);
        assertRefused(1, 99);
        assertRefused(2, -1);
        assertRefused(2, PerfOperation.values().length);
        assertRefused(3, 0);
        assertRefused(3, -1);
        assertRefused(3, PerfRequest.MOST_SIZE + 1);
        assertRefused(4, 0);
        assertRefused(4, PerfRequest.MOST_DEPTH + 1);
        assertRefused(4, Integer.MIN_VALUE);
        assertRefused(5, 2);
    }

    /** Asserts that a request with another number is refused. */
    private static void assertRefused(int index, int number) {
        byte[] data = new PerfRequest(PerfOperation.WRITE, 64, 16, false).toPrivateData();
        ByteBuffer.wrap(data).putInt(index * Integer.BYTES, number);
        assertThat(PerfRequest.fromPrivateData(data)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "ATOMIC_WRITE, 16",
        "RDMA_FETCH_AND_ADD, 4",
        "RDMA_COMPARE_AND_SWAP, 4",
        "FLUSH_VISIBLE, 7",
        "RDMA_WRITE_INLINE, 65"
    })
    void aSizeThatTheOperationCanNotHave(PerfOperation operation, int size) {
        byte[] data = new PerfRequest(operation, size, 1, false).toPrivateData();
        assertThat(PerfRequest.fromPrivateData(data)).isEmpty();
    }

    @Test
    void anOperationThatIsLargerThanTheDevicesMessagesIsRefused() throws Exception {
        PerfRequest request = new PerfRequest(PerfOperation.SEND, (8 << 20) + 1, 1, false);
        assertThatThrownBy(() -> PerfService.checkSize(request, 8 << 20))
                .isInstanceOf(Listener.RefusedException.class)
                .hasMessage("an operation of 8388609 B: the largest message of the device is 8 MiB");
        PerfService.checkSize(request, 1 << 30);
        assertThat(PerfService.request(request.toPrivateData(), false)).isEqualTo(request);
        assertThatThrownBy(() -> PerfService.request(request.toPrivateData(), true))
                .isInstanceOf(Listener.RefusedException.class)
                .hasMessageContaining("another program");
    }

    @Test
    void anOfferOfLibrdmacm() {
        PerfRdmaOffer offer = new PerfRdmaOffer(0x1234_5678_9abc_def0L, -7);
        assertThat(PerfRdmaOffer.fromPrivateData(offer.toPrivateData())).contains(offer);
        assertThat(PerfRdmaOffer.fromPrivateData(new byte[8])).isEmpty();
        assertThat(PerfRdmaOffer.fromPrivateData(new byte[196])).isEmpty();
    }

    /** The offer of a server with 4 KiB of memory. */
    private static Offer offer(boolean persistent, boolean nativeFlush, boolean directWrite) {
        RpmaMrUsage usage = persistent ? RpmaMrUsage.FLUSH_TYPE_PERSISTENT : RpmaMrUsage.FLUSH_TYPE_VISIBILITY;
        byte[] memory = ByteBuffer.allocate(RpmaMrLocal.DESCRIPTOR_SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(4096)
                .putLong(4096)
                .putInt(1)
                .put((byte) (1 << usage.ordinal()))
                .array();
        return new Offer(new byte[] {(byte) (directWrite ? 1 : 0)}, memory, persistent, nativeFlush);
    }

    private static void checkFlush(PerfOperation operation, boolean flushNative, Offer offer) throws IOException {
        try (RpmaMrRemote remote = offer.openMemory()) {
            PerfConnection.checkFlush(operation, flushNative, offer, remote);
        }
    }

    @Test
    void aFlushThatTheTwoSidesCanNotCarryOut() {
        String refused = "this side's device flushes natively, and the server's device refuses that";
        String none = "the server has no persistent memory for 4 KiB (server --memory)";
        String undeclared = "flushes are emulated, and the server's operator has not declared that they make bytes"
                + " persistent (server --direct-write-to-pmem)";
        assertNoFlush(PerfOperation.FLUSH_VISIBLE, true, offer(false, false, false), refused);
        assertNoFlush(PerfOperation.FLUSH_PERSISTENT, true, offer(true, false, true), refused);
        assertNoFlush(PerfOperation.FLUSH_PERSISTENT, true, offer(false, true, true), none);
        assertNoFlush(PerfOperation.FLUSH_PERSISTENT, false, offer(false, false, true), none);
        assertNoFlush(PerfOperation.FLUSH_PERSISTENT, false, offer(true, true, false), undeclared);
    }

    private static void assertNoFlush(PerfOperation operation, boolean flushNative, Offer offer, String message) {
        assertThatThrownBy(() -> checkFlush(operation, flushNative, offer))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage(message);
    }

    @Test
    void aFlushThatTheTwoSidesCarryOut() throws IOException {
        checkFlush(PerfOperation.FLUSH_VISIBLE, true, offer(false, true, false));
        checkFlush(PerfOperation.FLUSH_VISIBLE, false, offer(false, false, false));
        checkFlush(PerfOperation.FLUSH_PERSISTENT, true, offer(true, true, false));
        checkFlush(PerfOperation.FLUSH_PERSISTENT, false, offer(true, false, true));
    }

    /** Completes the oldest operation at each call. */
    private static final class FakeEnd extends PerfEnd {
        private final List<Integer> posts = new ArrayList<>();
        private int recorded;
        private int underWay;
        private int mostUnderWay;
        private boolean silent;
        private boolean ended;
        private boolean lost;

        /** The number of calls of {@link #take} after which the sends of answered operations complete. */
        private int sendsLate;

        private int sends;
        private int mostSends;
        private int lateFor;

        FakeEnd(PerfOperation operation, int depth, int list) {
            super(
                    new Connector("10.0.0.1", 7204, "perf server ADDRESS"),
                    new PerfRequest(operation, 64, depth, false),
                    list);
        }

        @Override
        void post() {
            record();
            postRecorded();
        }

        @Override
        void record() {
            recorded++;
        }

        @Override
        void postRecorded() {
            posts.add(recorded);
            underWay += recorded;
            sends += recorded;
            mostSends = Math.max(mostSends, sends);
            recorded = 0;
            lateFor = sendsLate;
            mostUnderWay = Math.max(mostUnderWay, underWay);
        }

        @Override
        int take() throws LostException {
            if (lost) {
                throw new LostException("server", "the connection is lost");
            }
            if (silent) {
                return 0;
            }
            if (underWay > 0) {
                underWay--;
                return 1;
            }
            lateFor--;
            if (lateFor <= 0) {
                sent(sends);
                sends = 0;
            }
            return 0;
        }

        @Override
        boolean isEnded(long millis) {
            return ended;
        }

        @Override
        Stream<AutoCloseable> objects() {
            return Stream.empty();
        }
    }

    private static List<PerfLoad.Times> runAll(FakeEnd... ends) throws Exception {
        try (PerfRun run = new PerfRun(null, new Connector("10.0.0.1", 7204, "perf server ADDRESS"))) {
            return run.runAll(List.of(ends), new PerfLoad(4, 1, 10, 0, Long.MAX_VALUE));
        }
    }

    @Test
    void eachThreadHasAResult() throws Exception {
        assertThat(runAll(
                        new FakeEnd(PerfOperation.WRITE, 4, 1),
                        new FakeEnd(PerfOperation.WRITE, 4, 1),
                        new FakeEnd(PerfOperation.WRITE, 4, 1)))
                .hasSize(3)
                .allMatch(times -> times.histogram().getTotalCount() == 10);
    }

    /** The other thread would wait without an end. */
    @Test
    void theFirstLossEndsTheOtherThreads() {
        FakeEnd silent = new FakeEnd(PerfOperation.WRITE, 4, 1);
        silent.silent = true;
        FakeEnd lost = new FakeEnd(PerfOperation.WRITE, 4, 1);
        lost.lost = true;
        assertThatThrownBy(() -> runAll(silent, lost))
                .isInstanceOf(LostException.class)
                .hasMessage("server: the connection is lost");
    }

    /** A server's side that gets no message. */
    private static final class SilentServerEnd extends PerfServerEnd {
        private boolean ended;

        SilentServerEnd() {
            super(1, new PerfRequest(PerfOperation.SEND, 64, 1, false));
        }

        @Override
        Optional<String> awaitEstablished() {
            return Optional.empty();
        }

        @Override
        void watch(RpmaEventLoop loop, Runnable lost) {
            throw new AssertionError("the operation is answered");
        }

        @Override
        int take() {
            return 0;
        }

        @Override
        boolean send() {
            throw new AssertionError("there is no message");
        }

        @Override
        boolean isEnded() {
            return ended;
        }

        @Override
        public void close() {}
    }

    @Test
    void theServerReportsASilentClient() throws Exception {
        SilentServerEnd end = new SilentServerEnd();
        assertThat(end.answer(1_000_000))
                .contains("the client is silent, and its connection is closed: no message within 1 ms");
        end.ended = true;
        assertThat(end.answer(Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void theHeadOfTheTableComesWithItsFirstLine() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfTable table = new PerfTable(new PrintStream(out), List.of("a note"));
        assertThat(out.toString()).isEmpty();
        table.add("a row");
        table.add("another row");
        assertThat(out).hasToString(PerfReport.head() + "\na note\na row\nanother row\n");
    }

    @Test
    void aFileThatCanNotBeWrittenDoesNotKeepTheOthersFromBeingWritten(@TempDir Path directory) throws IOException {
        Path none = directory.resolve("none").resolve("csv");
        Path json = directory.resolve("json");
        PerfFiles one = new PerfFiles(none, json, null);
        assertThatThrownBy(() -> one.write(MACHINE, List.of(result(20))))
                .hasMessage("the results can't be written: " + none + ": no such file");
        assertThat(json).isNotEmptyFile();
        PerfFiles both = new PerfFiles(none, Path.of("/dev/full"), null);
        assertThatThrownBy(() -> both.write(MACHINE, List.of(result(20))))
                .hasMessage(
                        "the results can't be written: " + none + ": no such file; /dev/full: No space left on device");
        new PerfFiles(null, null, null).write(MACHINE, List.of());
    }

    @Test
    void anUnexpectedFailureDoesNotHideTheOthers(@TempDir Path directory) {
        Path csv = directory.resolve("csv");
        Path json = directory.resolve("json");
        List<PerfResult> broken = Collections.singletonList(null);
        assertThatThrownBy(() -> new PerfFiles(csv, json, null).write(MACHINE, broken))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("the results can't be written: " + csv + ": ")
                .hasMessageContaining("; " + json + ": ");
    }

    /** A server that is killed loses its memory regions before its connection. */
    @Test
    void aRefusedOperationOnAConnectionThatEnds() {
        FakeEnd end = new FakeEnd(PerfOperation.SEND, 1, 1);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> end.fail(RpmaWcStatus.REM_OP_ERR))
                .withMessageContaining("REM_OP_ERR");
        assertThatExceptionOfType(LostException.class).isThrownBy(() -> end.fail(RpmaWcStatus.RETRY_EXC_ERR));
        end.ended = true;
        assertThatExceptionOfType(LostException.class)
                .isThrownBy(() -> end.fail(RpmaWcStatus.REM_OP_ERR))
                .withMessageContaining("REM_OP_ERR");
    }

    @Test
    void aLoadOfANumberOfOperations() throws Exception {
        FakeEnd end = new FakeEnd(PerfOperation.WRITE, 8, 4);
        PerfLoad.Times times = new PerfLoad(8, 4, 102, 0, Long.MAX_VALUE).run(end);
        assertThat(times.histogram().getTotalCount()).isEqualTo(102);
        assertThat(times.end()).isGreaterThan(times.begin());
        assertThat(end.posts).hasSize(26).endsWith(4, 2);
        assertThat(end.mostUnderWay).isEqualTo(8);
        assertThat(end.underWay).isZero();
    }

    @Test
    void aLoadWaitsForTheCompletionsOfSendsAfterTheAnswers() throws Exception {
        FakeEnd end = new FakeEnd(PerfOperation.SEND, 2, 1);
        end.sendsLate = 3;
        PerfLoad.Times times = new PerfLoad(2, 1, 10, 0, Long.MAX_VALUE).run(end);
        assertThat(times.histogram().getTotalCount()).isEqualTo(10);
        assertThat(end.mostSends).isEqualTo(4);
    }

    @Test
    void aLoadOfATime() throws Exception {
        FakeEnd end = new FakeEnd(PerfOperation.WRITE, 1, 1);
        PerfLoad.Times times = new PerfLoad(1, 1, 0, 20_000_000, Long.MAX_VALUE).run(end);
        assertThat(times.end() - times.begin()).isGreaterThanOrEqualTo(20_000_000);
        assertThat(times.histogram().getTotalCount()).isEqualTo(end.posts.size());
        assertThat(end.mostUnderWay).isEqualTo(1);
    }

    @Test
    void aLoadEndsIfNothingCompletes() {
        FakeEnd end = new FakeEnd(PerfOperation.WRITE, 4, 1);
        end.silent = true;
        assertThatThrownBy(() -> new PerfLoad(4, 1, 10, 0, 1_000_000).run(end))
                .hasMessageEndingWith("no answer within 1 ms");
    }

    @Test
    void aLoadEndsIfItsThreadIsInterrupted() {
        FakeEnd end = new FakeEnd(PerfOperation.WRITE, 4, 1);
        end.silent = true;
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> new PerfLoad(4, 1, 10, 0, Long.MAX_VALUE).run(end))
                .isInstanceOf(InterruptedException.class);
    }

    @Test
    void theWarmUpIsAPart() {
        assertThat(new PerfLoad(4, 2, 100, 0, 7).warmUp()).isEqualTo(new PerfLoad(4, 2, 20, 0, 7));
        assertThat(new PerfLoad(4, 2, 3, 0, 7).warmUp()).isEqualTo(new PerfLoad(4, 2, 1, 0, 7));
        assertThat(new PerfLoad(4, 2, 0, 1000, 7).warmUp()).isEqualTo(new PerfLoad(4, 2, 0, 200, 7));
    }

    private static PerfResult result(int operations) {
        Histogram times = new Histogram(3);
        for (int i = 1; i <= operations; i++) {
            times.recordValue(i * 1000L);
        }
        return new PerfResult(PerfOperation.WRITE, 4096, 16, 2, 4, true, 0.5, times);
    }

    @Test
    void aPercentileNeedsTenOperationsBeyond() {
        assertThat(result(9999).percentile(99.9)).isNull();
        assertThat(result(10_000).percentile(99.9)).isNotNull();
        assertThat(result(999).percentile(99)).isNull();
        assertThat(result(1000).percentile(99)).isNotNull();
    }

    /** The histogram has ranges of times. The time is at the end of a range. */
    @Test
    void theValuesOfOneTimeAreInOrder() {
        Histogram times = new Histogram(3);
        times.recordValue(1_049_599);
        PerfResult result = new PerfResult(PerfOperation.WRITE, 64, 1, 1, 1, false, 0.5, times);
        assertThat(List.of(result.least(), result.mean(), result.median(), result.most()))
                .isSorted();
    }

    @Test
    void sizesAreExact() {
        assertThat(List.of(
                        0L,
                        1L,
                        64L,
                        1000L,
                        1024L,
                        1025L,
                        1536L,
                        4096L,
                        1L << 20,
                        (1L << 20) + 1024,
                        64L << 20,
                        1L << 30,
                        1025L << 20,
                        1L << 40))
                .extracting(ByteSize::text)
                .containsExactly(
                        "0 B",
                        "1 B",
                        "64 B",
                        "1000 B",
                        "1 KiB",
                        "1025 B",
                        "1536 B",
                        "4 KiB",
                        "1 MiB",
                        "1025 KiB",
                        "64 MiB",
                        "1 GiB",
                        "1025 MiB",
                        "1024 GiB");
    }

    @Test
    void numbersHaveThreeDigits() {
        assertThat(List.of(0.0, 0.00123, 0.0593, 0.5, 1.0, 12.34, 5678.0))
                .extracting(PerfReport::number)
                .containsExactly("0.00", "0.00123", "0.0593", "0.500", "1.00", "12.3", "5678");
        assertThat(PerfReport.number(null)).isEqualTo("-");
    }

    @Test
    void aRow() {
        assertThat(List.of(PerfReport.head(), PerfReport.row(result(1000)), PerfReport.row(result(20))))
                .containsExactly(
                        "operation           size depth thr   p50 us   p99 us p99.9 us     ops/s    MiB/s",
                        "write              4 KiB    16   2    500.2    990.2        -      2000     7.81",
                        "write              4 KiB    16   2     10.0        -        -      40.0    0.156")
                .allMatch(line -> line.length() <= 80);
    }

    @Test
    void commaSeparatedValues() {
        List<String> lines =
                PerfReport.csv(List.of(result(1000), result(20))).lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines).allMatch(line -> line.split(",", -1).length == 17);
        assertThat(lines.get(0))
                .isEqualTo("operation,bytes,depth,threads,post_list,events,operations,seconds,least_us,mean_us,p50_us,"
                        + "p90_us,p99_us,p999_us,most_us,operations_per_second,bytes_per_second");
        assertThat(lines.get(1))
                .startsWith("write,4096,16,2,4,true,1000,0.500000,1.000,")
                .endsWith(",2000.0,8192000.0");
        assertThat(lines.get(2)).contains(",,,");
    }

    @Test
    void json() {
        JsonObject report = JsonParser.parseString(PerfReport.json(MACHINE, List.of(result(20))))
                .getAsJsonObject();
        assertThat(report.getAsJsonObject("machine").keySet())
                .containsExactly("cpu", "kernel", "java", "librpma", "rdmaCore", "device", "server");
        JsonObject row = report.getAsJsonArray("results").get(0).getAsJsonObject();
        assertThat(row.keySet())
                .containsExactly(
                        "operation",
                        "bytes",
                        "depth",
                        "threads",
                        "postList",
                        "events",
                        "operations",
                        "seconds",
                        "leastUs",
                        "meanUs",
                        "p50Us",
                        "p90Us",
                        "p99Us",
                        "p999Us",
                        "mostUs",
                        "operationsPerSecond",
                        "bytesPerSecond");
        assertThat(row.get("p50Us").getAsDouble()).isCloseTo(10, within(0.1));
        assertThat(row.get("p99Us").isJsonNull()).isTrue();
    }

    @Test
    void theBarIsForATerminal() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfProgress bar = new PerfProgress(new PrintStream(out), true, 4);
        bar.show(1, "write");
        bar.clear();
        assertThat(out).hasToString("\r\u001b[K[#####---------------] 2 of 4: write\r\u001b[K");
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        PerfProgress none = new PerfProgress(new PrintStream(file), false, 4);
        none.show(1, "write");
        none.clear();
        assertThat(file.toString()).isEmpty();
    }

    @Test
    void eachHelpIsForATerminalOf80Columns() {
        for (String command : List.of("server", "client")) {
            String help = new Tools()
                    .commandLine()
                    .getSubcommands()
                    .get("perf")
                    .getSubcommands()
                    .get(command)
                    .getUsageMessage();
            assertThat(help.lines()).allMatch(line -> line.length() <= 80);
            assertThat(help).contains("Exit status:");
        }
        assertThat(Stream.of(PerfOperation.values()).map(PerfOperation::toString))
                .allMatch(title -> title.length() <= 16);
    }
}
