// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The loop of the clients that do not take completions through the library. */
class DirectLoadTest {
    /** Records the calls. Each take completes a given number of operations. */
    private static final class Recorder implements DirectLoad.DirectEnd {
        private final List<String> calls = new ArrayList<>();
        private final Deque<Integer> takes;

        Recorder(List<Integer> takes) {
            this.takes = new ArrayDeque<>(takes);
        }

        @Override
        public void receive(long number) {
            calls.add("receive " + number);
        }

        @Override
        public void post(long number) {
            calls.add("post " + number);
        }

        @Override
        public int take() {
            int taken = takes.remove();
            calls.add("take " + taken);
            return taken;
        }
    }

    private static List<String> calls(Operation operation, int depth, int count, long[] samples, Integer... takes)
            throws IOException {
        Recorder recorder = new Recorder(List.of(takes));
        Load load = new Load(operation, Long.BYTES, depth, Completions.POLL, count);
        assertThat(new DirectLoad(load, recorder).run(samples)).isNotNegative();
        return recorder.calls;
    }

    @Test
    void postsUpToTheDepth() throws IOException {
        assertThat(calls(Operation.WRITE, 2, 4, null, 0, 1, 2, 1))
                .containsExactly("post 0", "post 1", "take 0", "take 1", "post 2", "take 2", "post 3", "take 1");
    }

    @Test
    void postsAReceiveBeforeAnAnsweredOperation() throws IOException {
        assertThat(calls(Operation.SEND, 1, 2, null, 1, 1))
                .containsExactly("receive 0", "post 0", "take 1", "receive 1", "post 1", "take 1");
    }

    @Test
    void takesTheTimeOfEachOperation() throws IOException {
        long[] samples = Samples.create(3);
        calls(Operation.READ, 2, 3, samples, 2, 0, 1);
        assertThat(samples).doesNotContain(-1);
    }
}
