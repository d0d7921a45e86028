package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.bench.CPrograms;
import io.rpma.testing.Jvm;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Events do not keep a wait from its end: other threads may take each completion that they tell of. */
@Timeout(60)
class EventsAloneTest {
    @TempDir
    private Path directory;

    private void assertAllEnd(boolean isVirtual) throws Exception {
        CPrograms.build(directory);
        Jvm.Finished finished = Jvm.likeThis()
                .limit(Duration.ofSeconds(30))
                .run(
                        EventsAloneProgram.class.getName(),
                        directory.resolve("librpma.so.0").toString(),
                        Boolean.toString(isVirtual));
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out())
                .matches(
                        "0\ntrue\njava.lang.InterruptedException: .*\njava.lang.IllegalStateException: .* is closed\n");
    }

    @Test
    void waitsEnd() throws Exception {
        assertAllEnd(false);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
    void waitsOfVirtualThreadsEnd() throws Exception {
        assertAllEnd(true);
    }
}
