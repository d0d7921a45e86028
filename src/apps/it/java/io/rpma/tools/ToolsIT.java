// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tools on a device, from their jar. */
@Tag("processes")
class ToolsIT extends WithTools {
    /** Runs a client whose answers are never too late on a busy machine. */
    private Jvm.Running ping(String... more) {
        List<String> arguments = new ArrayList<>(List.of("ping", address, "--port", port, "--timeout", "600"));
        arguments.addAll(List.of(more));
        return start(arguments.toArray(String[]::new));
    }

    private Jvm.Running server() throws InterruptedException {
        Jvm.Running server = start("ping", "--listen", address, "--port", port);
        server.awaitLine("listening at " + address + " port " + port + " through ");
        return server;
    }

    @Test
    void infoShowsTheDevice() throws InterruptedException {
        RpmaDevice device = RpmaDevice.local(address);
        // a locale with other digits
        Jvm jvm = Jvm.ofTools().options("-Duser.language=ar", "-Duser.country=EG");
        Jvm.Finished end = assertEnds(start(jvm, "info"), 0);
        assertThat(end.out())
                .contains("\n" + device.name() + "\n")
                .containsPattern("(?m)^port 1 +ACTIVE, .*\\b" + address.replace(".", "\\."))
                .containsPattern("(?m)^flush +" + (device.isFlushNative() ? "native" : "emulated by reads") + "$")
                .containsPattern("(?m)^vendor +0x[0-9a-f]+, part " + device.vendorPartId() + ", ")
                .containsPattern("(?m)^limits +max_pd=\\d+");
        assertThat(end.out().lines()).allMatch(line -> line.length() <= 80);
        assertThat(end.err()).isEmpty();
    }

    @Test
    void infoAsJson() throws InterruptedException {
        RpmaDevice device = RpmaDevice.local(address);
        Jvm.Finished end = assertEnds(start("info", "--json"), 0);
        JsonArray devices = JsonParser.parseString(end.out()).getAsJsonObject().getAsJsonArray("devices");
        JsonObject found = null;
        for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).getAsJsonObject().get("name").getAsString().equals(device.name())) {
                found = devices.get(i).getAsJsonObject();
            }
        }
        assertThat(found).as(end.out()).isNotNull();
        assertThat(found.keySet())
                .containsExactly(
                        "name",
                        "driver",
                        "vendorId",
                        "vendorPartId",
                        "nodeGuid",
                        "firmwareVersion",
                        "nativeFlush",
                        "nativeAtomicWrite",
                        "onDemandPaging",
                        "iwarp",
                        "atomics",
                        "limits",
                        "ports");
        assertThat(found.get("nativeFlush").getAsBoolean()).isEqualTo(device.isFlushNative());
        assertThat(found.get("vendorId").getAsInt()).isEqualTo(device.vendorId());
        assertThat(found.getAsJsonObject("limits").get("max_qp").getAsLong())
                .isEqualTo(device.limits().get("max_qp"));
        JsonObject onlyPort = found.getAsJsonArray("ports").get(0).getAsJsonObject();
        assertThat(onlyPort.keySet())
                .containsExactly("number", "state", "linkLayer", "activeMtu", "maxMessage", "interfaces", "addresses");
        assertThat(onlyPort.get("state").getAsString()).isEqualTo("ACTIVE");
        assertThat(onlyPort.getAsJsonArray("addresses").toString()).contains("\"" + address + "\"");
    }

    @Test
    void theDoctorFindsNoFault() throws InterruptedException {
        String name = RpmaDevice.local(address).name();
        Jvm.Finished end = assertEnds(start("doctor", address), 0);
        assertThat(end.out())
                .containsPattern("(?m)^ok       devices +.*" + name)
                .containsPattern("(?m)^ok       " + name + " queues +memory can be registered, and a queue pair made$")
                .containsPattern("(?m)^ok       " + address + " +the address of " + name + "$")
                .contains("\nThis machine is ready for RDMA.\n");
        assertThat(end.err()).isEmpty();
    }

    @Test
    void theDoctorFindsNoDeviceOfAnAddress() throws InterruptedException {
        Jvm.Finished end = assertEnds(start("doctor", "127.0.0.1"), 1);
        assertThat(end.out())
                .containsPattern("(?m)^missing  127.0.0.1 +127.0.0.1 is the address of no device")
                .contains("1 required part is missing");
    }

    @Test
    void theDoctorFindsNoWayToAnAddress() throws InterruptedException {
        String silent = TestDevice.silentAddress();
        Jvm.Finished end = assertEnds(start("doctor", silent), 1);
        assertThat(end.out())
                .containsPattern("(?m)^missing  " + silent + " +no device reaches it:")
                .contains("ip route get " + silent)
                .doesNotContain("(null)");
    }

    @Test
    @Tag("library")
    void eachMessageIsAnswered() throws Exception {
        Jvm.Running server = server();
        Jvm.Finished end = assertEnds(ping("--count", "3", "--interval", "0", "--size", "100k"), 0);
        assertThat(end.out().lines())
                .anyMatch(line -> line.matches(address + " port " + port + " through \\S+: connected in [\\d.]+ ms"))
                .anyMatch(line -> line.matches("3: 102400 bytes, time [\\d.]+ us"))
                .contains("3 messages of 102400 bytes, 3 answered, 0 % lost")
                .anyMatch(line ->
                        line.matches("round trip min/avg/max/stddev ([\\d.]+/){3}[\\d.]+ us, median [\\d.]+ us"));
        assertThat(end.err()).isEmpty();
        Jvm.Finished quiet = assertEnds(ping("--count", "2", "--interval", "0", "--quiet"), 0);
        assertThat(quiet.out())
                .contains("2 messages of 64 bytes, 2 answered, 0 % lost")
                .doesNotContain("1: ");
        server.awaitLine("client 2: it has ended");
        server.signal("TERM");
        assertThat(assertEnds(server, 0).out())
                .contains("client 1 has connected, with messages of 102400 bytes")
                .endsWith("5 messages of 2 clients answered\n");
    }

    @Test
    void controlCEndsWithTheSummary() throws Exception {
        server();
        Jvm.Running client = ping("--interval", "0.05");
        client.awaitLine("3: 64 bytes, time ");
        client.signal("INT");
        assertThat(assertEnds(client, 0).out())
                .containsPattern("\\n\\d+ messages of 64 bytes, \\d+ answered, 0 % lost\\n");
    }

    @Test
    void nothingListens() throws InterruptedException {
        Jvm.Finished end = assertEnds(ping(), 1);
        assertThat(end.err())
                .isEqualTo("rpma-java ping: " + address + " port " + port + ": rejected: nothing listens there, or the"
                        + " listening side has refused this one and shows why; start"
                        + " 'rpma-java ping --listen ADDRESS' on that host, with the address of its RDMA device\n");
        assertThat(end.out()).isEmpty();
    }

    @Test
    void noHostHasTheAddress() throws InterruptedException {
        Jvm.Finished end = assertEnds(start("ping", TestDevice.silentAddress(), "--timeout", "2"), 1);
        assertThat(end.err())
                .isEqualTo("rpma-java ping: no host answers at " + TestDevice.silentAddress()
                        + ": is it the address of the other host's RDMA device, and is that host up? See"
                        + " 'rpma-java doctor " + TestDevice.silentAddress() + "' here, and 'rpma-java info' on that"
                        + " host\n");
    }

    @Test
    void anUnknownHost() throws InterruptedException {
        Jvm.Finished end = assertEnds(start("ping", "host.invalid"), 1);
        assertThat(end.err())
                .isEqualTo("rpma-java ping: the host name host.invalid is unknown on this machine: see"
                        + " 'getent hosts host.invalid', or name the address of the RDMA device\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ping --listen ADDRESS", "perf server ADDRESS"})
    void anAddressThatIsNotOfThisMachine(String command) throws InterruptedException {
        String other = TestDevice.silentAddress();
        Jvm.Finished end = assertEnds(start(command.replace("ADDRESS", other).split(" ")), 1);
        assertThat(end.err())
                .endsWith(": no RDMA device of this machine has the address " + other
                        + ": 'rpma-java info' lists the addresses\n")
                .hasLineCount(1);
    }

    @Test
    void theOtherSideEnds() throws Exception {
        Jvm.Running server = server();
        // an answer of the host that ends can be lost, and is then awaited until this time
        Jvm.Running client = start("ping", address, "--port", port, "--interval", "0.1", "--timeout", "60");
        client.awaitLine("1: 64 bytes");
        server.kill();
        client.awaitLine("rejected: nothing listens there");
        Jvm.Running second = server();
        second.awaitLine("client 1 has connected");
        client.signal("INT");
        assertThat(assertEnds(client, 0).out())
                .containsPattern("\\d+ messages of 64 bytes, \\d+ answered, [1-9]\\d* % lost");
        second.signal("INT");
        assertEnds(second, 0);
    }

    @Test
    void anotherProgramAnswers() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp endpoint = RpmaEp.listen(peer, address, Integer.parseInt(port))) {
            Jvm.Running client = ping();
            try (RpmaConn conn = endpoint.nextConnReq(null).connect()) {
                assertThat(conn.nextEvent()).isNotNull();
                assertThat(assertEnds(client, 1).err())
                        .startsWith("rpma-java ping: " + address + " port " + port
                                + ": another program has accepted the" + " connection")
                        .hasLineCount(1);
            }
        }
    }

    @Test
    void anotherProgramConnects() throws Exception {
        Jvm.Running server = server();
        try (RpmaPeer peer = TestDevice.peer();
                RpmaConn conn = RpmaConnReq.create(peer, address, Integer.parseInt(port), null)
                        .connect()) {
            assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.REJECTED);
        }
        server.awaitLine("rejected: the client is another program");
        server.signal("INT");
        assertEnds(server, 0);
    }
}
