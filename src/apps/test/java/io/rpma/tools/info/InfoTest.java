// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.info;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.rpma.RpmaDevice;
import io.rpma.testing.Jvm;
import io.rpma.testing.Librpma;
import org.junit.jupiter.api.Test;

/** The command info on this machine, which may have no device. {@code ToolsIT} runs it with a device. */
class InfoTest {
    /** The status and the message depend on whether this machine has a device. */
    private static void assertEnded(Jvm.Finished end) {
        if (RpmaDevice.list().isEmpty()) {
            assertThat(end.err())
                    .startsWith("rpma-java info: there is no RDMA device")
                    .contains("rpma-java rxe run CMD")
                    .hasLineCount(1);
            assertThat(end.status()).isEqualTo(1);
        } else {
            assertThat(end.err()).isEmpty();
            assertThat(end.status()).isZero();
        }
    }

    @Test
    void theVersions() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run("info");
        assertThat(end.out())
                .containsPattern("(?m)^rpma-java +\\d")
                .containsPattern("(?m)^librpma +\\S")
                .containsPattern("(?m)^kernel +" + System.getProperty("os.version") + "$")
                .containsPattern("(?m)^Java +" + System.getProperty("java.version") + "$");
        assertEnded(end);
    }

    @Test
    void theVersionOfTheLibrpmaOfTheJar() throws InterruptedException {
        Librpma.assumeBundled();
        Jvm.Finished end = Jvm.ofTools().options("-Dio.rpma.librpma=bundled").run("info");
        assertThat(end.out()).containsPattern("(?m)^librpma +1\\.3\\.0, bundled$");
        assertEnded(end);
    }

    @Test
    void asJson() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().run("info", "--json");
        JsonObject machine = JsonParser.parseString(end.out()).getAsJsonObject();
        assertThat(machine.keySet()).containsExactly("versions", "devices");
        assertThat(machine.getAsJsonObject("versions").keySet())
                .containsExactly("rpmaJava", "librpma", "rdmaCore", "kernel", "java");
        assertThat(machine.getAsJsonArray("devices")).hasSize(RpmaDevice.list().size());
        assertEnded(end);
    }

    @Test
    void withoutTheNativeLibrary() throws InterruptedException {
        Jvm.Finished end = Jvm.ofTools().options("-Dio.rpma.library=/nowhere").run("info");
        assertThat(end.err()).isEqualTo("rpma-java: -Dio.rpma.library=/nowhere names no file that can be read\n");
        assertThat(end.status()).isEqualTo(1);
    }
}
