// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.programs.SoakProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections and operations of several threads leave nothing: the resources of the process stay the same. */
@Tag("soak")
@Tag("processes")
@Tag("unsanitized")
@Timeout(3400) // for a long run
class SoakIT {
    private static final int CONNECTIONS =
            Integer.getInteger("rpma.soak.connections", Boolean.getBoolean("rpma.long") ? 20_000 : 1920);

    @Test
    void theResourcesStayTheSame() throws InterruptedException {
        Path samples = Path.of(System.getProperty("rpma.test.output"), "soak.csv");
        Jvm.Finished end = Jvm.likeThis()
                .limit(Duration.ofSeconds(3300))
                .options("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
                // otherwise the JVM starts and ends threads itself
                .options("-XX:-UseDynamicNumberOfCompilerThreads", TestDevice.portsOption(SoakProgram.THREADS))
                .run(SoakProgram.class, Integer.toString(CONNECTIONS), samples.toString());
        assertEquals(0, end.status(), end.toString());
        System.out.print(end.out());
    }
}
