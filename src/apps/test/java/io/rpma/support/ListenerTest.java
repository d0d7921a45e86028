// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The listening side of a command without its endpoint. */
class ListenerTest {
    private final Listener listener = new Listener(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    private class Session implements Listener.Session {
        @Override
        public void serve() throws InterruptedException {
            end.await();
            throw new IllegalArgumentException("a failure of one client");
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    @Test
    void noClientEndsTheSide() throws InterruptedException {
        assertThat(listener.accept(number -> {
                    throw new IllegalArgumentException("a request that the device can't serve");
                }))
                .isFalse();
        assertThat(listener.accept(number -> {
                    throw new OutOfMemoryError();
                }))
                .isFalse();
        assertThat(listener.accept(number -> new Session())).isTrue();
        end.countDown();
        closed.await();
    }

    @Test
    void aRefusalCountsNoClient() throws InterruptedException {
        end.countDown();
        Listener two = new Listener(2);
        assertThat(two.accept(number -> new Session() {
                    @Override
                    public boolean counts() {
                        return false;
                    }
                }))
                .isTrue();
        assertThat(two.accept(number -> {
                    assertThat(number).isEqualTo(1);
                    return new Session();
                }))
                .isTrue();
    }

    @Test
    void aClientBeyondTheMaximumIsNotAccepted() throws InterruptedException {
        assertThat(listener.accept(number -> new Session())).isTrue();
        PrintStream out = System.out;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true));
        try {
            assertThat(listener.accept(number -> {
                        throw new AssertionError("the request is taken");
                    }))
                    .isFalse();
        } finally {
            System.setOut(out);
        }
        assertThat(said.toString()).contains("rejected: there are 1 clients already\n");
        end.countDown();
        closed.await();
    }
}
