// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.internal.Fake;
import io.rpma.internal.Resource;
import io.rpma.testing.Together;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/** Many threads use and close the same objects. */
class CloseRaceTest {
    private static final int THREADS = 4;

    @Test
    void onlyOneCloses() throws Exception {
        for (int round = 0; round < 200; round++) {
            Resource handle = Fake.object("RpmaPeer", 1);
            AtomicInteger deleted = new AtomicInteger();
            Together.run(
                    THREADS,
                    thread -> Fake.close(handle, "rpma_peer_delete", id -> {
                        deleted.incrementAndGet();
                        return 0;
                    }));
            assertThat(deleted).hasValue(1);
        }
    }

    @Test
    void aParentIsClosedOrHasAChildButNotBoth() throws Exception {
        for (int round = 0; round < 500; round++) {
            Resource parent = Fake.object("RpmaPeer", 1);
            Resource[] child = new Resource[1];
            boolean[] closed = new boolean[1];
            Together.run(2, thread -> {
                try {
                    if (thread == 0) {
                        child[0] = Fake.object("RpmaEp", 2, parent);
                    } else {
                        Fake.close(parent, "rpma_peer_delete", id -> 0);
                        closed[0] = true;
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining(parent.toString());
                }
            });
            assertThat(child[0] == null).isEqualTo(closed[0]);
            assertThat(parent.isClosed()).isEqualTo(closed[0]);
        }
    }

    @Test
    void childrenComeAndGo() throws Exception {
        Resource parent = Fake.object("RpmaPeer", 1);
        Together.run(THREADS, thread -> {
            for (int i = 0; i < 5000; i++) {
                Fake.close(Fake.object("RpmaEp", 2, parent), "rpma_ep_shutdown", id -> 0);
            }
        });
        Fake.close(parent, "rpma_peer_delete", id -> 0);
        assertThat(parent.isClosed()).isTrue();
    }

    @Test
    void nativeObjectsAreUsedAndClosedAtOnce() throws Exception {
        for (int round = 0; round < 200; round++) {
            RpmaConnCfg cfg = RpmaConnCfg.create();
            AtomicInteger closers = new AtomicInteger();
            Together.run(THREADS, thread -> {
                if (thread == 0) {
                    cfg.close();
                    closers.incrementAndGet();
                    return;
                }
                try {
                    while (true) {
                        assertThat(cfg.setCqSize(thread).getCqSize()).isBetween(1, THREADS);
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining(cfg.object() + " is closed");
                }
            });
            assertThat(closers).hasValue(1);
            assertThatIllegalStateException().isThrownBy(cfg::getCqSize);
        }
    }

    /** A closed handle must never reach the object that reuses its entry in the native table. */
    @Test
    void randomUseOfObjectsThatComeAndGo() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("CloseRaceTest: seed " + seed);
        AtomicReferenceArray<Sized> slots = new AtomicReferenceArray<>(8);
        AtomicInteger used = new AtomicInteger();
        Together.run(THREADS, thread -> {
            Random random = new Random(seed + thread);
            for (int i = 0; i < 10_000; i++) {
                int slot = random.nextInt(slots.length());
                Sized object = slots.get(slot);
                try {
                    if (object == null || random.nextInt(4) == 0) {
                        Sized old = slots.getAndSet(slot, Sized.create(random));
                        if (old != null) {
                            old.close();
                        }
                    } else {
                        object.check();
                        used.incrementAndGet();
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageEndingWith("is closed");
                }
            }
        });
        for (int i = 0; i < slots.length(); i++) {
            slots.get(i).close();
        }
        assertThat(used).hasPositiveValue();
    }

    /** A configuration or a region. Its native object stores a random number that identifies it. */
    private abstract static class Sized implements AutoCloseable {
        static Sized create(Random random) {
            int number = 1 + random.nextInt(1_000_000);
            return random.nextBoolean() ? new Cfg(number) : new Region(number);
        }

        abstract void check();

        @Override
        public abstract void close();
    }

    private static final class Cfg extends Sized {
        private final int number;
        private final RpmaConnCfg cfg = RpmaConnCfg.create();

        Cfg(int number) {
            this.number = number;
            cfg.setSqSize(number);
        }

        @Override
        void check() {
            assertThat(cfg.getSqSize()).isEqualTo(number);
        }

        @Override
        public void close() {
            cfg.close();
        }
    }

    private static final class Region extends Sized {
        private final int number;
        private final RpmaMrRemote region;

        Region(int number) {
            this.number = number;
            region = RpmaMrRemoteTest.region(4096, number, 1);
        }

        @Override
        void check() {
            assertThat(region.getSize()).isEqualTo(number);
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
