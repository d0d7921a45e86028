// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Operations whose contexts are the tickets of their buffers. */
class RpmaMemoryPoolIT extends WithConnection {
    private static final int BUFFERS = 4;
    private static final int LENGTH = 64;
    private static final int WRITES = 100;

    RpmaMemoryPoolIT() {
        super(WRITES * Long.BYTES);
    }

    /** Gives back the buffers of the completed writes. */
    private int giveBackCompleted(RpmaMemoryPool pool, RpmaCompletions completions) throws InterruptedException {
        int count = pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(count).isPositive();
        for (int i = 0; i < count; i++) {
            assertThat(completions.status(i)).isEqualTo(RpmaWcStatus.SUCCESS);
            pool.giveBack(completions.wrId(i));
        }
        return count;
    }

    @Test
    void aCompletionGivesTheBufferOfItsWriteBack() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(BUFFERS);
        try (RpmaMemory memory = RpmaMemory.allocate(BUFFERS * LENGTH);
                RpmaMemoryPool pool = RpmaMemoryPool.create(memory, LENGTH);
                RpmaMrLocal region = peer.register(pool.memory(), RpmaMrUsage.WRITE_SRC)) {
            int waits = 0;
            for (int i = 0; i < WRITES; i++) {
                long ticket = pool.take();
                while (ticket == RpmaMemoryPool.EMPTY) {
                    waits++;
                    giveBackCompleted(pool, completions);
                    ticket = pool.take();
                }
                pool.buffer(ticket).putLong(i + 1);
                Pair.assertPosted(pair.client.write(
                        regions.remote,
                        i * Long.BYTES,
                        region,
                        pool.offset(ticket),
                        Long.BYTES,
                        RpmaConn.F_COMPLETION_ALWAYS,
                        ticket));
            }
            assertThat(waits).isPositive();
            assertThatIllegalStateException().isThrownBy(pool::close).withMessageContaining("buffers are given back");
            while (pool.available() < BUFFERS) {
                giveBackCompleted(pool, completions);
            }
            for (int i = 0; i < WRITES; i++) {
                assertThat(regions.remoteMemory.buffer().getLong(i * Long.BYTES))
                        .isEqualTo(i + 1);
            }
        }
    }

    @Test
    void receivesInBuffersOfAPool() throws InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(BUFFERS * LENGTH);
                RpmaMemoryPool pool = RpmaMemoryPool.create(memory, LENGTH);
                RpmaMrLocal region = peer.register(pool.memory(), RpmaMrUsage.RECV)) {
            for (int i = 0; i < BUFFERS; i++) {
                long ticket = pool.take();
                Pair.assertPosted(pair.server.recv(region, pool.offset(ticket), pool.length(ticket), ticket));
            }
            assertThat(pool.take()).isEqualTo(RpmaMemoryPool.EMPTY);
            RpmaCompletions completions = RpmaCompletions.create(1);
            for (int i = 0; i < BUFFERS; i++) {
                regions.localMemory.buffer().putLong(0, i + 1);
                Pair.assertPosted(pair.client.send(regions.local, 0, Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, i));
                Pair.assertDone(pair.client, i);
                assertThat(pair.server.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS))
                        .isEqualTo(1);
                long ticket = completions.wrId(0);
                assertThat(completions.byteLen(0)).isEqualTo(Long.BYTES);
                assertThat(pool.buffer(ticket).getLong()).isEqualTo(i + 1);
                pool.giveBack(ticket);
                assertThatIllegalStateException().isThrownBy(() -> pool.giveBack(ticket));
            }
        }
    }
}
