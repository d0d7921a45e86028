// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.WatchProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.Together;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which objects a poller reports, and how often. */
class PollerTest {
    private static final Pattern EPOLL_CALLS = Pattern.compile("epoll_ctl: (\\d+) calls, 0 failed");
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Poller poller = new Poller("Poller").open();
    private final Signal signal = new Signal();
    private int told;
    private final Poller.Watch watch = poller.watch(signal.object(), () -> told++, true);

    @AfterEach
    void close() {
        signal.close();
        poller.close();
    }

    private void assertTold(int expected) {
        told = 0;
        poller.poll(0);
        assertThat(told).isEqualTo(expected);
    }

    @Test
    void tellsOnceOfWhatIsReady() {
        assertThat(watch.arm()).isZero();
        assertTold(0);
        signal.set();
        assertTold(1);
        assertTold(0);
        assertThat(watch.arm()).isZero();
        assertTold(1);
        signal.clear();
        assertThat(watch.arm()).isZero();
        assertTold(0);
    }

    @Test
    void doesNotTellOfWhatIsNotWatched() {
        signal.set();
        assertTold(0);
        assertThat(watch.arm()).isZero();
        watch.end();
        assertTold(0);
        watch.end();
    }

    @Test
    void aLaterWatchOfTheSameObjectIsAnother() {
        signal.set();
        assertThat(watch.arm()).isZero();
        watch.end();
        int[] other = new int[1];
        Poller.Watch later = poller.watch(signal.object(), () -> other[0]++, true);
        assertThat(later.arm()).isZero();
        assertTold(0);
        assertThat(other[0]).isOne();
    }

    @Test
    void anObjectThatIsClosedIsNotToldAndNotWatched() {
        assertThat(watch.arm()).isZero();
        signal.set();
        signal.close();
        assertTold(0);
        assertThat(watch.arm()).isEqualTo(Result.CLOSED);
        watch.end();
    }

    @Test
    void anObjectWithoutADescriptorIsRefused() {
        Resource object = Fake.unwatchable("Unwatchable");
        Poller.Watch refused = poller.watch(object, () -> told++, true);
        assertThat(refused.arm()).isEqualTo(Result.PROVIDER);
        assertThat(Log.lastReasons()).isEqualTo("epoll_ctl() failed: Bad file descriptor");
        refused.end();
        Fake.close(object, "rpma_conn_cfg_delete", Natives::connCfgDelete);
    }

    @Test
    void aLevelTriggeredWatchTellsUntilItIsDisarmed() {
        Signal other = new Signal();
        int[] seen = new int[1];
        Poller.Watch level = poller.watch(other.object(), () -> seen[0]++, false);
        assertThat(level.arm()).isZero();
        other.set();
        for (int polls = 1; polls <= 3; polls++) {
            poller.poll(0);
            assertThat(seen[0]).isEqualTo(polls);
            assertThat(level.arm()).isZero();
        }
        level.disarm();
        poller.poll(0);
        assertThat(seen[0]).isEqualTo(3);
        assertThat(level.arm()).isZero();
        poller.poll(0);
        assertThat(seen[0]).isEqualTo(4);
        level.end();
        poller.poll(0);
        assertThat(seen[0]).isEqualTo(4);
        other.close();
    }

    @Test
    void moreThanOneWaitTells() {
        List<Signal> signals = new ArrayList<>();
        Set<Integer> all = new TreeSet<>();
        for (int i = 0; i < 600; i++) {
            int number = i;
            Signal one = new Signal();
            signals.add(one);
            one.set();
            assertThat(poller.watch(one.object(), () -> all.add(number), true).arm())
                    .isZero();
        }
        for (int polls = 0; polls < 3; polls++) {
            poller.poll(0);
        }
        assertThat(all).hasSize(600);
        signals.forEach(Signal::close);
    }

    @Test
    void waitsForTheTime() {
        for (long nanos : new long[] {0, 1, MILLISECOND - 1, MILLISECOND, 20 * MILLISECOND + 1}) {
            long start = System.nanoTime();
            poller.poll(nanos);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(nanos);
        }
    }

    @Test
    void isWokenOnce() {
        poller.wake();
        poller.wake();
        poller.poll(Waiter.FOREVER);
        long start = System.nanoTime();
        poller.poll(10 * MILLISECOND);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(10 * MILLISECOND);
    }

    @Test
    void isWokenByAnInterrupt() throws Exception {
        Thread.currentThread().interrupt();
        poller.poll(Waiter.FOREVER);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void closeEndsAWait() throws Exception {
        for (int round = 0; round < 200; round++) {
            Poller other = new Poller("Poller").open();
            Together.run(2, thread -> {
                if (thread == 0) {
                    other.poll(Waiter.FOREVER);
                } else {
                    assertThat(other.close()).isTrue();
                }
            });
            other.poll(Waiter.FOREVER);
            other.wake();
            assertThat(other.close()).isFalse();
        }
    }

    @Test
    void aClosedOneWatchesNothing() {
        poller.close();
        assertThat(watch.arm()).isEqualTo(Result.CLOSED);
        watch.end();
    }

    @Test
    void aWatchEndsAWaitUnderWay() throws Exception {
        signal.set();
        Thread thread = new Thread(() -> poller.poll(Waiter.FOREVER), "polling");
        thread.start();
        Eventually.become(
                "it waits",
                () -> thread.getStackTrace().length > 0
                        && thread.getStackTrace()[0].getMethodName().equals("pollerWait"));
        assertThat(watch.arm()).isZero();
        thread.join();
        assertThat(told).isOne();
    }

    @Test
    void descriptorsAreGivenBack() {
        OpenResources before = OpenResources.now();
        for (int i = 0; i < 100; i++) {
            new Poller("Poller").open().close();
        }
        before.assertSameNow(0);
    }

    /** The first call adds the descriptor, and the second call removes it. No call fails. */
    @Test
    void aWaitTakesTwoCallsOfTheKernel(@TempDir Path directory) throws Exception {
        String counter = CProgram.compile(directory, "epoll.c", "-shared", "-fPIC", "-ldl")
                .toString();
        int before = epollCalls(counter, 0);
        assertThat(epollCalls(counter, 100) - before).isEqualTo(200);
    }

    private static int epollCalls(String counter, int waits) throws InterruptedException {
        Jvm.Finished finished = Jvm.likeThis().preload(counter).run(WatchProgram.class, Integer.toString(waits));
        Matcher calls = EPOLL_CALLS.matcher(finished.out());
        assertThat(calls.find()).as(finished.toString()).isTrue();
        return Integer.parseInt(calls.group(1));
    }
}
