// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackOffTest {
    /** Returns all pauses after a first failure at the start time, if the attempts take no time. */
    private static List<Long> pauses(BackOff backOff, long start) {
        List<Long> pauses = new ArrayList<>();
        long now = start;
        for (OptionalLong next = backOff.next(now); next.isPresent(); next = backOff.next(now)) {
            pauses.add(next.getAsLong());
            now += next.getAsLong();
        }
        return pauses;
    }

    @Test
    void pausesGetLongerUpToABoundAndEndWithTheTime() {
        List<Long> pauses = pauses(new BackOff(60), 17);
        assertThat(pauses).startsWith(BackOff.FIRST, 2 * BackOff.FIRST, 4 * BackOff.FIRST);
        assertThat(pauses).allMatch(pause -> pause <= BackOff.LONGEST);
        assertThat(pauses).filteredOn(pause -> pause == BackOff.LONGEST).hasSizeGreaterThan(10);
        assertThat(pauses.stream().mapToLong(Long::longValue).sum()).isEqualTo(TimeUnit.SECONDS.toNanos(60));
    }

    @Test
    void theTimeBeginsAgainAfterASuccess() {
        BackOff backOff = new BackOff(2);
        List<Long> first = pauses(backOff, 0);
        assertThat(backOff.next(TimeUnit.SECONDS.toNanos(3))).isEmpty();
        backOff.succeeded();
        assertThat(pauses(backOff, TimeUnit.SECONDS.toNanos(100))).isEqualTo(first);
    }

    @Test
    void theTimeMayPassAnywhereOnTheClock() {
        assertThat(pauses(new BackOff(5), Long.MAX_VALUE - 1)).isEqualTo(pauses(new BackOff(5), 0));
    }

    @Test
    void onlyWhatIsLostIsTriedAgain() throws Exception {
        List<String> failures = new ArrayList<>(List.of("first", "second"));
        BackOff.Attempt<String> attempt = () -> {
            if (failures.isEmpty()) {
                return "worked";
            }
            throw new LostException("A:1", failures.remove(0));
        };
        List<String> notes = new ArrayList<>();
        assertThat(new BackOff(30).retry("no connection", notes::add, attempt)).isEqualTo("worked");
        assertThat(notes).containsExactly("no connection yet: A:1: first");
        IOException other = new IOException("not of this program");
        assertThatThrownBy(() -> new BackOff(30).retry("no connection", notes::add, () -> {
                    throw other;
                }))
                .isSameAs(other);
    }

    @Test
    void whatIsSaidWhenTheTimeIsUp() throws Exception {
        BackOff backOff = new BackOff(1);
        long long1 = System.nanoTime() - TimeUnit.SECONDS.toNanos(1);
        assertThat(backOff.next(long1)).isPresent();
        assertThatThrownBy(() -> backOff.pause("no connection", new LostException("A:1", "rejected")))
                .isInstanceOf(IOException.class)
                .hasMessage("no connection within 1 s (--timeout): A:1: rejected");
    }
}
