// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMemoryPool;
import io.rpma.RpmaMemoryPool.SizeClass;
import io.rpma.testing.Limit;
import io.rpma.testing.RdmaPair;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Operations of librdmacm's verbs whose contexts are the tickets of their buffers. */
class RdmaMemoryPoolIT {
    private static final int WRITES = 100;

    private static void giveBackSent(RdmaPair pair, RpmaMemoryPool pool, RpmaCompletions completions)
            throws InterruptedException {
        int count = pair.client.qp().getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(count).isPositive();
        for (int i = 0; i < count; i++) {
            assertThat(completions.isSuccess(i)).isTrue();
            pool.giveBack(completions.wrId(i));
        }
    }

    @Test
    void aCompletionGivesTheBufferOfItsWriteBack() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMemoryPool pool = RpmaMemoryPool.create(memory, new SizeClass(64, 3), new SizeClass(1024, 2));
                RdmaMr region = RdmaMr.regMsgs(pair.client, pool.memory())) {
            int waits = 0;
            for (int i = 0; i < WRITES; i++) {
                long ticket = pool.take(Long.BYTES);
                while (ticket == RpmaMemoryPool.EMPTY) {
                    waits++;
                    giveBackSent(pair, pool, completions);
                    ticket = pool.take(Long.BYTES);
                }
                pool.buffer(ticket).putLong(i + 1);
                assertThat(pair.client
                                .qp()
                                .postWrite(
                                        region,
                                        pool.offset(ticket),
                                        Long.BYTES,
                                        RdmaQp.F_SIGNALED,
                                        pair.serverMr.address() + i * Long.BYTES,
                                        pair.serverMr.rkey(),
                                        ticket))
                        .isTrue();
            }
            assertThat(waits).isPositive();
            assertThatIllegalStateException().isThrownBy(pool::close).withMessageContaining("buffers are given back");
            while (pool.available() < pool.size()) {
                giveBackSent(pair, pool, completions);
            }
            for (int i = 0; i < WRITES; i++) {
                assertThat(pair.serverMemory.buffer().getLong(i * Long.BYTES)).isEqualTo(i + 1);
            }
        }
    }
}
