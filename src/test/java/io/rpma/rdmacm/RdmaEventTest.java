// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** The fields of an event, in the layout of native/rdmacm_id.c. */
class RdmaEventTest {
    private static RdmaEvent event(int type, int status, int ahAttr, int privateDataLen) {
        RdmaEvent event = new RdmaEvent();
        ByteBuffer bytes = ByteBuffer.wrap(event.bytes()).order(ByteOrder.nativeOrder());
        bytes.putInt(type).putInt(status).putInt(0xfffffffe).putInt(0x01234567);
        bytes.put((byte) 255)
                .put((byte) 2)
                .put((byte) 1)
                .put((byte) 6)
                .put((byte) 7)
                .put((byte) 1);
        bytes.put((byte) ahAttr).put((byte) privateDataLen);
        for (int i = 24; i < bytes.capacity(); i++) {
            bytes.put((byte) i);
        }
        return event;
    }

    @Test
    void hasEveryField() {
        RdmaEvent event = event(4, 0, 0, 3);
        assertThat(event.type()).isSameAs(RdmaEventType.CONNECT_REQUEST);
        assertThat(event.status()).isZero();
        assertThat(event.qpNum()).isEqualTo(-2);
        assertThat(event.qkey()).isEqualTo(0x01234567);
        assertThat(event.responderResources()).isEqualTo(255);
        assertThat(event.initiatorDepth()).isEqualTo(2);
        assertThat(event.flowControl()).isTrue();
        assertThat(event.retryCount()).isEqualTo(6);
        assertThat(event.rnrRetryCount()).isEqualTo(7);
        assertThat(event.srq()).isTrue();
        assertThat(event.privateData()).containsExactly(24, 25, 26);
        assertThat(event.ahAttr()).isNull();
        assertThat(event).hasToString("CONNECT_REQUEST");
    }

    @Test
    void hasTheAttributesOfAnAddressAndAllPrivateData() {
        RdmaEvent event = event(9, 0, 1, 255);
        assertThat(event.type()).isSameAs(RdmaEventType.ESTABLISHED);
        assertThat(event.privateData()).hasSize(255);
        assertThat(event.ahAttr()).hasSize(32).startsWith((byte) 280, (byte) 281);
    }

    @Test
    void tellsItsStatus() {
        assertThat(event(1, -110, 0, 0)).hasToString("ADDR_ERROR (status -110)");
        assertThat(event(99, 0, 0, 0).type()).isSameAs(RdmaEventType.UNKNOWN);
        assertThat(event(0, 0, 0, 0).privateData()).isEmpty();
    }
}
