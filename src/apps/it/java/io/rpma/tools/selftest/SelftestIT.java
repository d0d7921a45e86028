// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.rpma.RpmaDevice;
import io.rpma.testing.Document;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import io.rpma.tools.WithTools;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The test of a device, with itself and with another process. */
@Tag("processes")
class SelftestIT extends WithTools {
    /** No operation is too late on a busy machine. */
    private static final String TIMEOUT = "600";

    private static final int OPERATIONS = 30;

    private static final Pattern OPERATION = Pattern.compile("(?m)^([a-z][\\w ]+?) +(ok|unsupported|failed)\\b");

    private RpmaDevice device;
    private String first;

    @BeforeEach
    void find() {
        device = RpmaDevice.local(address);
        first = Integer.toString(TestDevice.ports(Server.PORTS));
    }

    /** The operations of an output, in its order. */
    private static List<String> operations(String output) {
        return OPERATION.matcher(output).results().map(row -> row.group(1)).collect(Collectors.toList());
    }

    private static String expected(boolean capable) {
        return capable ? "ok" : "unsupported";
    }

    @Test
    void ofItself() throws Exception {
        Jvm.Finished end = assertEnds(start("selftest", address, "-p", first, "-W", TIMEOUT), 0);
        assertThat(end.out())
                .contains("device     " + device.name() + ", driver ")
                .containsPattern("(?m)^flush to visibility +ok$")
                .containsPattern("(?m)^fetch and add +" + expected(device.isAtomicCapable()))
                .containsPattern("(?m)^datagrams +" + expected(!device.isIwarp()))
                .contains(", 0 failed\n");
        assertThat(end.out().lines()).allMatch(line -> line.length() <= 80);
        assertThat(operations(end.out()))
                .isEqualTo(operations(Document.TOOLS.block("selftest")))
                .hasSize(OPERATIONS);
    }

    @Test
    void ofAnotherProcess() throws InterruptedException {
        Jvm.Running server = start("selftest", "--listen", address, "--port", first);
        server.awaitLine("listening at " + address + " port " + first + " through ");
        Jvm.Finished end =
                assertEnds(start("selftest", "--peer", address, "-p", first, "--json", "--timeout", TIMEOUT), 0);
        JsonObject report = JsonParser.parseString(end.out()).getAsJsonObject();
        assertThat(report.keySet()).containsExactly("versions", "device", "peer", "checks");
        assertThat(report.get("peer").getAsString()).isEqualTo(address);
        assertThat(report.getAsJsonObject("device").get("name").getAsString()).isEqualTo(device.name());
        Map<String, String> results = StreamSupport.stream(
                        report.getAsJsonArray("checks").spliterator(), false)
                .map(check -> check.getAsJsonObject())
                .collect(Collectors.toMap(
                        check -> check.get("library").getAsString() + ": "
                                + check.get("operation").getAsString(),
                        check -> check.get("result").getAsString()));
        assertThat(results)
                .hasSize(OPERATIONS)
                .containsEntry("librpma: read", "OK")
                .doesNotContainValue("FAILED");
        assertThat(results.get("librdmacm: send with immediate data"))
                .isEqualTo(results.get("librpma: send with immediate data"));
    }

    @Test
    void nothingListens() throws InterruptedException {
        Jvm.Finished end = assertEnds(start("selftest", "--peer", address, "-p", first), 1);
        assertThat(end.err()).startsWith("rpma-java selftest: " + address + " port " + first + ": ");
        assertThat(List.of(end.err().split("\n"))).hasSize(1);
    }
}
