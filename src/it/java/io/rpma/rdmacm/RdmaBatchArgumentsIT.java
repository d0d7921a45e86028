// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaPost.Local.PARTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every bad argument of every post in a batch, with the same expectations as for the single post. Lists of parts are for
 * single posts.
 */
class RdmaBatchArgumentsIT extends RdmaPostArgumentsIT {
    private static final int INLINE_BYTES = 1 << 16;

    private static RdmaBatch batch() {
        return RdmaBatch.create(1, INLINE_BYTES);
    }

    @Override
    boolean call(RdmaPost post, RdmaPost.Arguments arguments) {
        if (post.local == PARTS) {
            return post.post(arguments);
        }
        RdmaBatch batch = batch();
        return post.record(batch, arguments) && batch.post() == 1;
    }

    @Override
    String closed(RdmaPost post, Object object, String role) {
        return post.local == PARTS ? super.closed(post, object, role) : "its " + role + " is closed";
    }

    @Override
    @Test
    void everyPostIsTested() {
        Stream<String> recorded = Arrays.stream(RdmaBatch.class.getMethods())
                .filter(method -> method.getReturnType() == boolean.class
                        && method.getParameterCount() > 0
                        && method.getParameterTypes()[0] == RdmaQp.class)
                .map(Method::getName)
                .map(name -> "post" + name.toLowerCase(Locale.ROOT));
        assertThat(recorded)
                .containsExactlyInAnyOrderElementsOf(
                        RdmaPost.recorded().map(RdmaPost::method).toList());
    }

    @ParameterizedTest
    @MethodSource("io.rpma.rdmacm.RdmaPost#recorded")
    void refusesNoQueuePair(RdmaPost post) {
        assertThatNullPointerException()
                .isThrownBy(() -> call(post, with(a -> a.qp = null)))
                .withMessage("the queue pair is null");
    }

    @ParameterizedTest
    @MethodSource("io.rpma.rdmacm.RdmaPost#recorded")
    void checksArgumentsAlsoWhenFull(RdmaPost post) {
        RdmaBatch full = batch();
        assertThat(post.record(full, with(a -> {}))).isTrue();
        assertThat(post.record(full, with(a -> {}))).isFalse();
        assertThatNullPointerException()
                .isThrownBy(() -> post.record(full, with(a -> {
                    a.region = null;
                    a.data = null;
                })));
    }
}
