// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import org.junit.jupiter.api.Test;

/**
 * Advice about the pages of a region that is pinned. Linux 7.3 with soft-RoCE and rdma-core 59 or later would crash.
 *
 * @see DaxFileIT
 */
class AdviseIT extends WithConnection {
    private static final int SIZE = 1 << 16;

    AdviseIT() {
        super(SIZE);
    }

    private void advise(long offset, long length) {
        regions.local.advise(offset, length, RpmaMrAdvice.PREFETCH_WRITE, true);
    }

    @Test
    void isRefusedAndDoesNoHarm() throws InterruptedException {
        for (RpmaMrAdvice advice : RpmaMrAdvice.values()) {
            for (boolean flush : new boolean[] {false, true}) {
                RpmaException failure =
                        assertThrows(RpmaException.class, () -> regions.local.advise(0, SIZE, advice, flush));
                assertEquals("rpma_mr_advise", failure.operation());
                assertEquals(RpmaError.INVAL, failure.error(), failure.toString());
                assertTrue(failure.getMessage().contains("only a region of an RpmaMemory"), failure.toString());
            }
        }
        Pair.assertPosted(pair.client.read(regions.local, 0, regions.remote, 0, SIZE, RpmaConn.F_COMPLETION_ALWAYS, 1));
        Pair.assertDone(pair.client, 1);
    }

    @Test
    void nothingOutsideOfTheRegion() {
        for (long[] bad :
                new long[][] {{-1, 1}, {0, -1}, {0, SIZE + 1}, {SIZE, 1}, {Long.MAX_VALUE, 1}, {Long.MIN_VALUE, 0}}) {
            assertThrows(IndexOutOfBoundsException.class, () -> advise(bad[0], bad[1]));
        }
        assertThrows(IllegalArgumentException.class, () -> advise(0, 1L << 31));
    }

    @Test
    void noAdviceAndAClosedRegion() {
        assertThrows(NullPointerException.class, () -> regions.local.advise(0, 1, null, false));
        regions.local.close();
        String message =
                assertThrows(IllegalStateException.class, () -> advise(0, 1)).getMessage();
        assertTrue(message.contains("is closed"), message);
    }
}
