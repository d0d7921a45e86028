// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaPair.inline;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Arguments that address handles can't be made from. */
@Tag("datagrams")
class RdmaAhIT {
    private static final int SIZE = 4096;

    private final RpmaMemory memory = RpmaMemory.allocate(SIZE);
    private RdmaDatagramPair pair;
    private RdmaMr region;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaDatagramPair.connect();
        region = RdmaMr.regMsgs(pair.server, memory);
    }

    @AfterEach
    void close() {
        region.close();
        pair.close();
        memory.close();
    }

    private static void assertRefused(String errno, ThrowingCallable call) {
        assertFails("ibv_create_ah_from_wc", errno, call);
    }

    @Test
    void ofAClosedId() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        RdmaId closed = RdmaId.create(RdmaPortSpace.UDP);
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> closed.createAh(pair.established))
                .withMessage(closed.object() + " is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> closed.createAh(received, 0, region, 0))
                .withMessage(closed.object() + " is closed");
    }

    @Test
    void ofAnIdWithoutADevice() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        try (RdmaId without = RdmaId.create(RdmaPortSpace.UDP)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> without.createAh(pair.established))
                    .withMessageContaining(without.object() + " has no device yet");
            assertThatIllegalStateException()
                    .isThrownBy(() -> without.createAh(received, 0, region, 0))
                    .withMessageContaining(without.object() + " has no device yet");
        }
    }

    @Test
    void ofNothing() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        assertThatNullPointerException().isThrownBy(() -> pair.client.createAh(null));
        assertThatNullPointerException().isThrownBy(() -> pair.server.createAh(null, 0, region, 0));
        assertThatNullPointerException().isThrownBy(() -> pair.server.createAh(received, 0, null, 0));
    }

    @Test
    void ofAClosedRegion() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        region.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> pair.server.createAh(received, 0, region, 0))
                .withMessageContaining("closed");
    }

    @Test
    void ofAFailedCompletion() throws InterruptedException {
        try (RdmaPair connected = RdmaPair.connect()) {
            RdmaQp qp = connected.client.qp();
            qp.postWriteInline(inline("x"), 1, RdmaQp.F_SIGNALED, 0, 0, 3);
            RpmaCompletions failed = RdmaPair.sent(qp, 3, RpmaWcStatus.REM_ACCESS_ERR);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.server.createAh(failed, 0, region, 0))
                    .withMessageContaining("a failed completion (REM_ACCESS_ERR)");
        }
    }

    /** The first bits of a header identify its protocol. */
    @Test
    void ofAHeaderOfNoProtocol() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        pair.server.createAh(received, 0, region, 0).close();
        assertRefused("EPROTONOSUPPORT", () -> pair.server.createAh(received, 0, region, HEADER + 1));
    }

    /** This machine can't answer from the address of another machine. */
    @Test
    void ofADatagramThatWasForAnotherMachine() throws InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        // an IPv4 header ends with the destination
        memory.buffer().put(HEADER - 4, new byte[] {(byte) 203, 0, 113, 1});
        assertRefused("EINVAL", () -> pair.server.createAh(received, 0, region, 0));
    }

    /** A direct access to the part that is gone would end the process. */
    @Test
    void ofAHeaderThatIsGoneOfAFile() throws IOException, InterruptedException {
        RpmaCompletions received = pair.receive(region, 0);
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
        try (RpmaMemory mapped = RpmaMemory.map(file, 2 * SIZE);
                RdmaMr ofFile = RdmaMr.regMsgs(pair.server, mapped)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(SIZE);
            }
            assertRefused("EFAULT", () -> pair.server.createAh(received, 0, ofFile, SIZE));
            assertRefused("EFAULT", () -> pair.server.createAh(received, 0, ofFile, SIZE - HEADER / 2));
        } finally {
            Files.delete(file);
        }
    }
}
