// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.RdmaPair.inline;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every bad argument of every post in a batch, with the same expectations as for the single post. */
class RdmaBatchArgumentsIT extends RdmaPostArgumentsIT {
    private static final int PARTS = RdmaSgeList.MAX_CAPACITY;
    private static final int INLINE_BYTES = 1 << 16;

    private static RdmaBatch batch() {
        return RdmaBatch.create(1, PARTS, INLINE_BYTES);
    }

    @Override
    boolean call(RdmaPost post, RdmaPost.Arguments arguments) {
        RdmaBatch batch = batch();
        return post.record(batch, arguments) && batch.post() == 1;
    }

    @Override
    String closed(Object object, String role) {
        return "its " + role + " is closed";
    }

    @Override
    String closedPart() {
        return "one of its regions is closed";
    }

    /** Datagrams are tested below and in {@link RdmaBatchIT}. */
    @Override
    @Test
    void everyPostIsTested() {
        Stream<String> recorded = Arrays.stream(RdmaBatch.class.getMethods())
                .filter(method -> method.getReturnType() == boolean.class
                        && method.getParameterCount() > 0
                        && method.getParameterTypes()[0] == RdmaQp.class)
                .map(Method::getName)
                .filter(name -> !name.startsWith("ud"))
                .map(name -> "post" + name.toLowerCase(Locale.ROOT));
        assertThat(recorded)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(RdmaPost.values()).map(RdmaPost::method).toList());
    }

    @ParameterizedTest
    @EnumSource
    void refusesNoQueuePair(RdmaPost post) {
        assertThatNullPointerException()
                .isThrownBy(() -> call(post, with(a -> a.qp = null)))
                .withMessage("the queue pair is null");
    }

    @ParameterizedTest
    @EnumSource
    void checksArgumentsAlsoWhenFull(RdmaPost post) {
        RdmaBatch full = batch();
        assertThat(post.record(full, with(a -> {}))).isTrue();
        assertThat(post.record(full, with(a -> {}))).isFalse();
        assertThatNullPointerException()
                .isThrownBy(() -> post.record(full, with(a -> {
                    a.region = null;
                    a.parts = null;
                    a.data = null;
                })));
    }

    @Override
    @Test
    void refusesDatagrams() {
        RdmaBatch batch = batch();
        RdmaQp qp = pair.client.qp();
        RdmaMr region = pair.clientMr;
        RdmaInlineData data = inline("x");
        for (ThrowingCallable post : List.<ThrowingCallable>of(
                () -> batch.udSend(qp, region, 0, 1, 0, null, 1, 2, 1),
                () -> batch.udSendInline(qp, data, 1, 0, null, 1, 2, 1),
                () -> batch.udSendWithImm(qp, region, 0, 1, 0, null, 1, 2, 3, 1),
                () -> batch.udSendWithImmInline(qp, data, 1, 0, null, 1, 2, 3, 1))) {
            assertThatIllegalStateException().isThrownBy(post).withMessage(qp + " is for connections: see postSend()");
        }
        assertThat(batch.count()).isZero();
    }
}
