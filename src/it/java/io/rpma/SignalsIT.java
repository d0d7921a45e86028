// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Natives;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Signals that the JVM handles in a waiting thread: they end no wait and no resolution early. */
class SignalsIT {
    private static final int SIGNALS = 5;

    private final AtomicInteger handled = new AtomicInteger();
    private Object formerHandler;
    // One shell sends all signals: in an emulated guest, the start of a process takes most of a second.
    private Process shell;

    /** Uses reflection, because the compiler warns about the class. */
    private static Object handle(Object handler) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        return signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler"))
                .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), handler);
    }

    @BeforeEach
    void startShell() throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh").redirectErrorStream(true);
        // Only JVMs run with a sanitizer.
        builder.environment().remove("LD_PRELOAD");
        shell = builder.start();
    }

    @AfterEach
    void endShell() throws Exception {
        shell.getOutputStream().close();
        assertEquals("", new String(shell.getInputStream().readAllBytes(), UTF_8));
        assertEquals(0, shell.waitFor());
    }

    @BeforeEach
    void count() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.SignalHandler");
        formerHandler = handle(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    handled.incrementAndGet();
                    return null;
                }));
    }

    @AfterEach
    void restore() throws ReflectiveOperationException {
        handle(formerHandler);
    }

    /** A thread with a known kernel thread id. */
    private static final class Sleeper {
        private final Path self;
        private final FutureTask<Object> task;

        Sleeper(Callable<?> wait) throws Exception {
            FutureTask<Path> number = new FutureTask<>(
                    () -> Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self"))));
            task = new FutureTask<>(wait::call);
            Thread thread = new Thread(
                    () -> {
                        number.run();
                        task.run();
                    },
                    "sleeper");
            thread.setDaemon(true);
            thread.start();
            self = number.get();
            Eventually.become("the thread is in a native", () -> isInNative(thread));
        }

        private static boolean isInNative(Thread thread) {
            StackTraceElement[] stack = thread.getStackTrace();
            return stack.length > 0 && stack[0].getClassName().equals(Natives.class.getName());
        }

        /** Returns how often the thread has gone to sleep. */
        int sleeps() {
            String status;
            try {
                status = Files.readString(self.resolve("status"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return Integer.parseInt(status.replaceAll("(?s).*\nvoluntary_ctxt_switches:\\s*(\\d+).*", "$1"));
        }

        /** Returns the kernel's id of the thread. */
        Path id() {
            return self.getFileName();
        }

        Object result() throws Exception {
            return task.get(Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    /** Sends the signals. Each wakes the thread, which then sleeps again. */
    private void signal(Sleeper sleeper) throws Exception {
        int before = sleeper.sleeps();
        for (int i = 1; i <= SIGNALS; i++) {
            int count = i;
            // The kernel tries the thread with the given id first, and this thread accepts signals.
            shell.getOutputStream().write(("kill -HUP " + sleeper.id() + "\n").getBytes(UTF_8));
            shell.getOutputStream().flush();
            Eventually.become("the signal is handled", () -> handled.get() == count);
            // on one processor the thread may not sleep yet, and the next signal would not wake it
            Eventually.become("the thread that was signalled sleeps again", () -> sleeper.sleeps() >= before + count);
            assertFalse(sleeper.task.isDone(), "signal " + count + " has ended the wait");
        }
    }

    @Test
    void aWaitForAnEvent() throws Exception {
        try (Pair pair = Pair.connect()) {
            Sleeper sleeper = new Sleeper(pair.server::nextEvent);
            signal(sleeper);
            pair.client.disconnect();
            assertEquals(RpmaConnEvent.CLOSED, sleeper.result());
        }
    }

    @Test
    void aWaitForACompletion() throws Exception {
        try (Pair pair = Pair.connect()) {
            Sleeper sleeper = new Sleeper(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            signal(sleeper);
            Pair.assertPosted(pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 1));
            assertEquals(1, sleeper.result());
        }
    }

    @Test
    void aWaitWithATimeoutKeepsIt() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            long start = System.nanoTime();
            Sleeper sleeper = new Sleeper(() -> ep.nextConnReq(null, 3, TimeUnit.SECONDS));
            signal(sleeper);
            assertEquals(Optional.empty(), sleeper.result());
            assertTrue(System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(3), "came back too early");
        }
    }

    /** librdmacm blocks in the kernel here, and continues after a signal because HotSpot's handlers have SA_RESTART. */
    @Test
    void theResolutionOfAnAddressThatNobodyHas() throws Exception {
        String network = TestDevice.address().replaceAll("\\d+$", "");
        try (RpmaPeer peer = TestDevice.peer();
                RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(3000)) {
            Sleeper sleeper = new Sleeper(() -> RpmaConnReq.create(peer, network + "247", 1, cfg));
            signal(sleeper);
            ExecutionException end = assertThrows(ExecutionException.class, sleeper::result);
            RpmaException failure = assertInstanceOf(RpmaException.class, end.getCause());
            assertTrue(failure.detail().contains("timed out"), failure.detail());
        }
    }
}
