// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.testing.CHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The enumerations and numbers that stand for constants of C. */
class CConstantsTest {
    private static final String RPMA = "librpma.h";
    private static final String VERBS = "infiniband/verbs.h";

    private static Map<String, Integer> ordinals(String prefix, List<? extends Enum<?>> constants) {
        return constants.stream().collect(Collectors.toMap(c -> prefix + c, Enum::ordinal));
    }

    @Test
    void connectionEvents() throws IOException {
        Map<String, Integer> c = new HashMap<>(new CHeader(RPMA).enumeration("rpma_conn_event"));
        assertThat(c.remove("RPMA_CONN_UNDEFINED")).isEqualTo(-1);
        assertThat(ordinals("RPMA_CONN_", List.of(RpmaConnEvent.values()))).isEqualTo(c);
        c.forEach((name, value) ->
                assertThat("RPMA_CONN_" + RpmaConnEvent.of(value)).isEqualTo(name));
    }

    @ParameterizedTest
    @CsvSource({
        "ESTABLISHED, Connection established",
        "CLOSED, Connection closed",
        "LOST, Connection lost",
        "REJECTED, Connection rejected",
        "UNREACHABLE, Connection unreachable"
    })
    void descriptionsOfConnectionEvents(RpmaConnEvent event, String description) {
        assertThat(event.description()).isEqualTo(description);
    }

    @Test
    void flushTypes() throws IOException {
        assertThat(ordinals("RPMA_FLUSH_TYPE_", List.of(RpmaFlushType.values())))
                .isEqualTo(new CHeader(RPMA).enumeration("rpma_flush_type"));
    }

    @Test
    void statesOfPorts() throws IOException {
        assertThat(ordinals("IBV_PORT_", withoutLast(RpmaPort.State.values())))
                .isEqualTo(new CHeader(VERBS).enumeration("ibv_port_state"));
    }

    /** The enumeration has no name, and its numbers start at 0. */
    @Test
    void linkLayersOfPorts() throws IOException {
        String constants = withoutLast(RpmaPort.LinkLayer.values()).stream()
                .map(constant -> "IBV_LINK_LAYER_" + constant + ",")
                .collect(Collectors.joining("\\s+"));
        assertThat(Files.readString(Path.of("/usr/include", VERBS)))
                .containsPattern("enum \\{\\s+" + constants + "\\s+}");
    }

    /** The last constant stands for the numbers that are not known. */
    private static <E extends Enum<E>> List<E> withoutLast(E[] constants) {
        assertThat(constants[constants.length - 1].name()).isEqualTo("UNKNOWN");
        return List.of(constants).subList(0, constants.length - 1);
    }

    @ParameterizedTest
    @EnumSource
    void usages(RpmaMrUsage usage) throws IOException {
        assertThat(usage.bit()).isEqualTo(new CHeader(RPMA).macro("RPMA_MR_USAGE_" + usage));
    }

    @Test
    void setsOfUsages() {
        RpmaMrUsage[] all = RpmaMrUsage.values();
        assertThat(RpmaMrUsage.mask(all)).isEqualTo(0xff);
        for (int mask = 1; mask <= 0xff; mask++) {
            RpmaMrUsage[] usages = RpmaMrUsage.setOf(mask).toArray(new RpmaMrUsage[0]);
            assertThat(RpmaMrUsage.mask(usages)).isEqualTo(mask);
        }
        assertThat(RpmaMrUsage.setOf(0)).isEmpty();
        assertThat(RpmaMrUsage.mask(RpmaMrUsage.SEND, RpmaMrUsage.SEND)).isEqualTo(RpmaMrUsage.SEND.bit());
        assertThatIllegalArgumentException().isThrownBy(RpmaMrUsage::mask);
        assertThatNullPointerException().isThrownBy(() -> RpmaMrUsage.mask(RpmaMrUsage.SEND, null));
        assertThatNullPointerException().isThrownBy(() -> RpmaMrUsage.mask((RpmaMrUsage[]) null));
    }

    @Test
    void statusesOfCompletions() throws IOException {
        EnumSet<RpmaWcStatus> known = EnumSet.complementOf(EnumSet.of(RpmaWcStatus.UNKNOWN));
        Map<String, Integer> c = new CHeader(VERBS).enumeration("ibv_wc_status");
        assertThat(ordinals("IBV_WC_", List.copyOf(known))).isEqualTo(c);
        c.forEach(
                (name, value) -> assertThat("IBV_WC_" + RpmaWcStatus.of(value)).isEqualTo(name));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 24, 25, 1000, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void unknownStatusesOfCompletions(int value) {
        assertThat(RpmaWcStatus.of(value)).isSameAs(RpmaWcStatus.UNKNOWN);
    }

    @Test
    void descriptionsOfStatuses() {
        assertThat(RpmaWcStatus.SUCCESS.description()).isEqualTo("success");
        assertThat(RpmaWcStatus.WR_FLUSH_ERR.description()).isEqualTo("Work Request Flushed Error");
        assertThat(RpmaWcStatus.REM_ACCESS_ERR.description()).isEqualTo("remote access error");
        assertThat(RpmaWcStatus.UNKNOWN.description()).isEqualTo("unknown");
        assertThat(Arrays.stream(RpmaWcStatus.values()).map(RpmaWcStatus::description))
                .doesNotHaveDuplicates()
                .doesNotContain("");
    }

    @ParameterizedTest
    @CsvSource({
        "SEND, 0",
        "RDMA_WRITE, 1",
        "RDMA_READ, 2",
        "COMP_SWAP, 3",
        "FETCH_ADD, 4",
        "FLUSH, 8",
        "ATOMIC_WRITE, 9",
        "RECV, 128",
        "RECV_RDMA_WITH_IMM, 129"
    })
    void opcodesOfCompletions(RpmaWcOpcode opcode, int value) throws IOException {
        assertThat(RpmaWcOpcode.of(value)).isSameAs(opcode);
        // headers before rdma-core 45 have no native flush
        Map<String, Integer> c = new CHeader(VERBS).enumeration("ibv_wc_opcode");
        assertThat(c.getOrDefault("IBV_WC_" + opcode, opcode == RpmaWcOpcode.FLUSH ? value : null))
                .isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 5, 6, 7, 10, 127, 130, 135, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void opcodesThatAreNeverPosted(int value) {
        assertThat(RpmaWcOpcode.of(value)).isSameAs(RpmaWcOpcode.UNKNOWN);
    }
}
