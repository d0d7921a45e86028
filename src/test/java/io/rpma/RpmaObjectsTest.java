// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import io.rpma.programs.CloseAllProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Together;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RpmaObjectsTest {
    @TempDir
    Path directory;

    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    @Test
    void manyObjectsNeedOneBarrier() throws Exception {
        String library = CProgram.compile(directory, "membarrier.c", "-shared", "-fPIC", "-ldl")
                .toString();
        Jvm.Finished finished = Jvm.likeThis().preload(library).run(CloseAllProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assumeThat(barriers(finished, CloseAllProgram.ONE_BY_ONE))
                .as("the kernel has membarrier(2)")
                .isPositive();
        assertThat(barriers(finished, CloseAllProgram.AT_ONCE)).isEqualTo(1);
        assertThat(barriers(finished, CloseAllProgram.ONE_BY_ONE)).isEqualTo(CloseAllProgram.OBJECTS);
    }

    private static long barriers(Jvm.Finished finished, String border) {
        return finished.out()
                .lines()
                .dropWhile(line -> !line.equals(border))
                .skip(1)
                .takeWhile(line -> !line.equals(border))
                .filter("membarrier"::equals)
                .count();
    }

    @Test
    void closesAllAndSkipsClosedOnes() {
        int before = Natives.handleCount();
        RpmaConnCfg cfg = RpmaConnCfg.create();
        RpmaEventLoop loop = RpmaEventLoop.create();
        RpmaMemory memory = RpmaMemory.allocate(1);
        RpmaMrRemote region = RpmaMrRemoteTest.region(4096, 1, 1);
        region.close();
        List<AutoCloseable> objects = List.of(cfg, loop, cfg, memory, region, RpmaPeerCfg.create());
        for (int i = 0; i < 2; i++) {
            RpmaObjects.closeAll(objects);
            assertThat(Natives.handleCount()).isEqualTo(before);
            assertThatIllegalStateException()
                    .isThrownBy(cfg::getCqSize)
                    .withMessageEndingWith(cfg.object() + " is closed");
            assertThatIllegalStateException().isThrownBy(() -> memory.buffer(0, 1));
            assertThatIllegalStateException().isThrownBy(() -> loop.execute(() -> {}));
        }
    }

    @Test
    void closesNothingOfAnEmptyList() {
        int before = Natives.handleCount();
        RpmaObjects.closeAll(List.of());
        assertThat(Natives.handleCount()).isEqualTo(before);
    }

    @Test
    void refusesOtherObjects() {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            AutoCloseable other = () -> {};
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RpmaObjects.closeAll(List.of(cfg, other)))
                    .withMessage("not an object of this library that can be closed: " + other);
            assertThatNullPointerException()
                    .isThrownBy(() -> RpmaObjects.closeAll(Arrays.asList(cfg, null)))
                    .withMessage("object");
            assertThat(cfg.getCqSize()).isPositive();
        }
    }

    @Test
    void refusesAPool() {
        try (RpmaMemory memory = RpmaMemory.allocate(8);
                RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 8)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RpmaObjects.closeAll(List.of(memory, pool)))
                    .withMessage("a pool must be closed by its own close(): " + pool);
            assertThatIllegalStateException()
                    .isThrownBy(() -> RpmaObjects.closeAll(List.of(memory)))
                    .withMessageContaining(" can't be closed before RpmaMemoryPool#");
            assertThat(pool.take()).isPositive().satisfies(pool::giveBack);
        }
    }

    /** Lists that overlap, single closes and calls, in many threads. */
    @Test
    void threadsCloseTheSameObjects() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("RpmaObjectsTest: seed " + seed);
        int before = Natives.handleCount();
        for (int round = 0; round < 200; round++) {
            List<RpmaConnCfg> objects = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                objects.add(RpmaConnCfg.create());
            }
            long roundSeed = seed + round;
            Together.run(4, thread -> closeSome(objects, thread, new Random(roundSeed * 4 + thread)));
            assertThat(Natives.handleCount()).isEqualTo(before);
        }
    }

    private static void closeSome(List<RpmaConnCfg> objects, int thread, Random random) {
        List<RpmaConnCfg> mine = new ArrayList<>(objects);
        Collections.shuffle(mine, random);
        if (thread < 2) {
            RpmaObjects.closeAll(mine);
            return;
        }
        for (RpmaConnCfg cfg : mine) {
            if (thread == 2) {
                cfg.close();
            }
            try {
                assertThat(cfg.getCqSize()).isEqualTo(10);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining(cfg.object() + " is closed");
            }
        }
    }
}
