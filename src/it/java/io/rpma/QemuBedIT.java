package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The programs of the JDK in an emulated guest, where code that HotSpot compiles with profiling crashes. */
@Tag("guests")
@Timeout(300)
class QemuBedIT {
    private static final String C1_WITHOUT_PROFILING = "TieredStopAtLevel = 1 {jimage}";

    /** The option of the JVMs is not on the command line, and no JVM prints it. The shared archive of classes fits. */
    @Test
    void eachJvmRunsWithoutProfiling() throws IOException, InterruptedException {
        String print = " | awk '/TieredStopAtLevel / { print $2, $3, $4, $6 }'";
        Rxe.Finished finished = Rxe.command(
                        Rxe.PROGRAM.toString(),
                        "run",
                        "--bed",
                        "qemu",
                        "--memory",
                        "1024",
                        "sh",
                        "-c",
                        "java -Xshare:on -XX:+PrintFlagsFinal --version"
                                + print
                                + "; javac -J-XX:+PrintFlagsFinal --version" + print
                                + "; java -XX:+UseZGC --version | grep -o emulated")
                .run();
        assertThat(finished.out().lines().toList())
                .isEqualTo(List.of(C1_WITHOUT_PROFILING, C1_WITHOUT_PROFILING, "emulated"));
        assertThat(finished.err()).isEqualTo(Rxe.BOOTING);
        assertThat(finished.status()).isZero();
    }
}
