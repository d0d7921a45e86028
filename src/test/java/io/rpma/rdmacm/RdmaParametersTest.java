// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The checks of the parameters of an id. */
class RdmaParametersTest {
    @ParameterizedTest
    @ValueSource(ints = {-1, 8, 255, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void retriesAreThreeBits(int count) {
        RdmaConnParam param = new RdmaConnParam();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> param.retryCount(count))
                .withMessage("retry count must be 0 to 7, not " + count);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> param.rnrRetryCount(count))
                .withMessage("RNR retry count must be 0 to 7, not " + count);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 256, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void depthsAreABytes(int depth) {
        RdmaConnParam param = new RdmaConnParam();
        assertThatIllegalArgumentException().isThrownBy(() -> param.initiatorDepth(depth));
        assertThatIllegalArgumentException().isThrownBy(() -> param.responderResources(depth));
    }

    @Test
    void takesWhatIsInRange() {
        assertThatCode(() -> new RdmaConnParam()
                        .retryCount(0)
                        .rnrRetryCount(7)
                        .initiatorDepth(0)
                        .responderResources(RdmaConnParam.MAX)
                        .flowControl(true)
                        .privateData(new byte[255]))
                .doesNotThrowAnyException();
    }

    @Test
    void privateDataHasAByteForItsLength() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RdmaConnParam().privateData(new byte[256]))
                .withMessage("private data has at most 255 bytes, not 256");
        assertThatNullPointerException().isThrownBy(() -> new RdmaConnParam().privateData(null));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void queuesHaveAtLeastOneEntry(int count) {
        RdmaQpInitAttr attr = new RdmaQpInitAttr();
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxSendWr(count));
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxRecvWr(count));
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxSendSge(count));
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxRecvSge(count));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE})
    void inlineDataIsNotNegative(int bytes) {
        assertThatIllegalArgumentException().isThrownBy(() -> new RdmaQpInitAttr().maxInlineData(bytes));
    }

    @Test
    void operationsHaveNotMorePartsThanAList() {
        RdmaQpInitAttr attr = new RdmaQpInitAttr();
        int most = RdmaSgeList.MAX_CAPACITY;
        attr.maxSendSge(most).maxRecvSge(most);
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxSendSge(most + 1));
        assertThatIllegalArgumentException().isThrownBy(() -> attr.maxRecvSge(most + 1));
    }

    @Test
    void numbersAreInTheirOrder() {
        RdmaQpInitAttr attr = new RdmaQpInitAttr()
                .maxSendWr(1)
                .maxRecvWr(2)
                .maxSendSge(3)
                .maxRecvSge(4)
                .maxInlineData(5)
                .sigAll(true);
        assertThat(attr.numbers()).containsExactly(1, 2, 3, 4, 5, 0, 0);
        RdmaQpInitAttr copy = new RdmaQpInitAttr(attr);
        attr.maxSendWr(9).sigAll(false);
        assertThat(copy.numbers()).containsExactly(1, 2, 3, 4, 5, 0, 0);
        assertThat(copy.sigAll()).isTrue();
        assertThat(copy.srq()).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void listsHaveALimit(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaSgeList.create(capacity))
                .withMessage("capacity must be 1 to 64, not " + capacity);
    }

    @Test
    void listsStartEmpty() {
        RdmaSgeList list = RdmaSgeList.create(64);
        assertThat(list.count()).isZero();
        assertThat(list.length()).isZero();
        assertThat(list).hasToString("RdmaSgeList[0 parts, 0 bytes]");
    }

    @ParameterizedTest
    @EnumSource(names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
    void theOtherSideWritesOnlyWhereThisOneMay(RdmaAccess remote) {
        assertThat(RdmaAccess.mask(remote, RdmaAccess.LOCAL_WRITE)).isPositive();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaAccess.mask(remote, RdmaAccess.REMOTE_READ))
                .withMessageContaining("LOCAL_WRITE");
        assertThat(RdmaAccess.mask()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65536, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void portsToConnectTo(int port) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaAddrInfo.active("10.0.0.1", port, RdmaPortSpace.TCP))
                .withMessage("port must be 1 to 65535, not " + port);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 65536, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void portsToListenOn(int port) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaAddrInfo.passive(null, port, RdmaPortSpace.TCP))
                .withMessage("port must be 0 to 65535, not " + port);
    }

    @Test
    void addressesHaveALength() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaAddrInfo.passive("", 1, RdmaPortSpace.TCP))
                .withMessage("an address has 1 to 255 characters, not 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaAddrInfo.active("a".repeat(256), 1, RdmaPortSpace.TCP));
        assertThatNullPointerException().isThrownBy(() -> RdmaAddrInfo.active(null, 1, RdmaPortSpace.TCP));
        assertThatNullPointerException().isThrownBy(() -> RdmaAddrInfo.active("10.0.0.1", 1, null));
        assertThatNullPointerException().isThrownBy(() -> RdmaId.create(null));
        assertThatNullPointerException().isThrownBy(() -> RdmaId.createEp(null, null));
    }
}
