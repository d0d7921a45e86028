// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.CHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The enumerations and flags that stand for constants of C. */
class RdmaConstantsTest {
    private static final String CMA = "rdma/rdma_cma.h";
    private static final String VERBS = "infiniband/verbs.h";

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void events(RdmaEventType type) throws IOException {
        assertThat(new CHeader(CMA).enumeration("rdma_cm_event_type"))
                .containsEntry("RDMA_CM_EVENT_" + type, type.ordinal());
        assertThat(RdmaEventType.of(type.ordinal())).isSameAs(type);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 16, 17, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void unknownEvents(int value) {
        assertThat(RdmaEventType.of(value)).isSameAs(RdmaEventType.UNKNOWN);
    }

    @Test
    void portSpaces() throws IOException {
        Map<String, String> c = Map.of("TCP", "0x0106", "UDP", "0x0111");
        String header = Files.readString(Path.of("/usr/include", CMA));
        for (RdmaPortSpace space : RdmaPortSpace.values()) {
            assertThat(header).containsPattern("RDMA_PS_" + space + "\\s*=\\s*" + c.get(space.name()));
            assertThat(space.value()).isEqualTo(Integer.decode(c.get(space.name())));
        }
    }

    @Test
    void keyOfDatagrams() throws IOException {
        assertThat(RdmaQp.UDP_QKEY).isEqualTo(new CHeader(CMA).macro("RDMA_UDP_QKEY"));
    }

    @ParameterizedTest
    @EnumSource
    void accesses(RdmaAccess access) throws IOException {
        assertThat(Files.readString(Path.of("/usr/include/rdma/ib_user_ioctl_verbs.h")))
                .contains("IB_UVERBS_ACCESS_" + access + " = 1 << " + Integer.numberOfTrailingZeros(access.bit()));
    }

    @Test
    void setsOfAccesses() {
        assertThat(RdmaAccess.mask()).isZero();
        assertThat(RdmaAccess.mask(RdmaAccess.values())).isEqualTo(15);
        assertThat(RdmaAccess.mask(RdmaAccess.REMOTE_READ, RdmaAccess.REMOTE_READ))
                .isEqualTo(RdmaAccess.REMOTE_READ.bit());
    }

    @Test
    void flagsOfPosts() throws IOException {
        assertThat(new CHeader(VERBS).enumeration("ibv_send_flags"))
                .containsEntry("IBV_SEND_FENCE", RdmaQp.F_FENCE)
                .containsEntry("IBV_SEND_SIGNALED", RdmaQp.F_SIGNALED)
                .containsEntry("IBV_SEND_SOLICITED", RdmaQp.F_SOLICITED);
    }
}
