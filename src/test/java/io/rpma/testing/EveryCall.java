// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a session again and again, each time with another faulty call, and checks the outcome: the step of the call
 * fails with the exception that names the operation and the cause, everything closes without another failure, nothing
 * is leaked, and the same JVM can make a connection afterwards. Exceptions from this outcome are listed. Writes a table
 * of the calls and outcomes.
 */
public final class EveryCall implements AutoCloseable {
    private static final int ENOMEM = 12;
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;
    private static final Map<Integer, String> TEXTS =
            Map.of(ENOMEM, "Cannot allocate memory", EBUSY, "Device or resource busy", EINVAL, "Invalid argument");
    private static final String OF_DEVICE = " of the device";
    private static final Pattern OBJECTS = Pattern.compile("(\\d+) ([^,]+)");

    /** What a session does after a fault. */
    public enum Outcome {
        /** The step fails with an exception that names the operation and the cause. */
        FAILS,
        /** The step fails with an exception that names the operation alone. */
        FAILS_WITHOUT_CAUSE,
        /** The step fails with an {@code OutOfMemoryError}. */
        OUT_OF_MEMORY,
        /** The step has waited in vain. */
        TIMES_OUT,
        /** The session succeeds. */
        SUCCEEDS
    }

    /**
     * A session.
     *
     * @param inFreshThreads whether each step is the first call of a thread
     */
    public record Session(String name, Steps.Session steps, boolean inFreshThreads) {}

    private record Rule(Pattern site, Outcome outcome, String reason) {}

    private final Path file;
    private final Callable<AutoCloseable> connection;
    private final Supplier<String> device;
    private final List<Rule> rules = new ArrayList<>();
    private final PrintStream table;
    private final List<String> mismatches = new ArrayList<>();
    private String timed = "";
    private OpenResources open;

    /**
     * @param name the name of the table
     * @param connection makes a connection and uses it
     * @param device the objects of the device, as {@link StandIn#alive} lists them
     */
    public EveryCall(String name, Callable<AutoCloseable> connection, Supplier<String> device) throws IOException {
        file = Path.of(System.getProperty("rpma.test.output", "target"), "every-call-" + name + ".txt")
                .toAbsolutePath()
                .normalize();
        Files.createDirectories(file.getParent());
        table = new PrintStream(Files.newOutputStream(file), true, StandardCharsets.UTF_8);
        this.connection = connection;
        this.device = device;
    }

    /**
     * Lists an exception from the usual outcome. The first that matches applies.
     *
     * @param site an expression for a session, a call and its step, as {@code
     *     "REJECTED: shim mmap 1 after munmap at client: mmap"}
     */
    public EveryCall except(String site, Outcome outcome, String reason) {
        rules.add(new Rule(Pattern.compile(site), outcome, reason));
        return this;
    }

    /**
     * Names functions whose numbers of calls depend on the speed of the device, as an expression: a call may be
     * missing.
     */
    public EveryCall mayMiss(String functions) {
        timed = functions;
        return this;
    }

    /** Returns the calls of a session without a fault. */
    private static List<Interposer.Call> record(Session session) throws Exception {
        // the second session finds threads, pools and the pinned device as the sessions with faults do
        for (int i = 0; i < 2; i++) {
            Interposer.record();
            Steps steps = Steps.run(session.steps, null, false, session.inFreshThreads);
            assertThat(steps.failures()).isEmpty();
            assertThat(Interposer.live()).isEmpty();
        }
        return Interposer.calls();
    }

    /** Records a session, and runs it for each call that fits. */
    public void run(Session session, Interposer.Action action, Predicate<Interposer.Call> fits) throws Exception {
        List<Interposer.Call> calls = record(session);
        connection.call().close();
        open = OpenResources.now();
        for (Interposer.Call call : calls) {
            if (fits.test(call)) {
                runWith(call, session, action);
                if (action != Interposer.Action.DELAY) {
                    checkProcess();
                }
            }
        }
        checkProcess();
    }

    private void runWith(Interposer.Call call, Session session, Interposer.Action action) throws Exception {
        int errno = errno(call);
        Map<String, Integer> deviceBefore = objects(device.get());
        int handles = Natives.handleCount();
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        // written before the session, which can hang
        table.print(session.name + ": " + call);
        table.flush();
        Interposer.arm(call, action, errno);
        Steps steps = Steps.run(session.steps, call, action == Interposer.Action.LOSE, session.inFreshThreads);
        if (steps.hitStep() == null && call.function().matches(timed)) {
            table.println(" | not made this time");
            assertThat(steps.failures()).isEmpty();
            return;
        }
        String site = session.name + ": " + call + " at " + steps.hitStep();
        Rule rule = ruleOf(site, action);
        String leaks = leaks(deviceBefore);
        table.println(
                " at " + steps.hitStep() + " | " + outcome(steps) + (rule.reason.isEmpty() ? "" : " | " + rule.reason));
        check(site, steps.hitStep() != null, "the call was not made");
        check(site, leaks.isEmpty(), "leaks " + leaks);
        check(site, Natives.handleCount() == handles, "native objects are open");
        check(site, isExpected(rule.outcome, call, errno, steps), rule.outcome + " is expected: " + outcome(steps));
        Set<Thread> started = Thread.getAllStackTraces().keySet();
        started.removeAll(threads);
        check(site, started.isEmpty(), "threads are alive: " + started);
    }

    /** Checks that the process is as it was, and can make a connection. */
    private void checkProcess() throws Exception {
        // a session has two threads, and a session before this may have had both wait at the same time or not
        open.assertSameNow(1);
        connection.call().close();
    }

    private void check(String site, boolean holds, String problem) {
        if (!holds) {
            mismatches.add(site + ": " + problem);
        }
    }

    private static int errno(Interposer.Call call) {
        if (call.function().matches(".*(destroy|dealloc|dereg).*")) {
            return EBUSY;
        }
        return call.function().matches(".*(create|alloc|reg|mmap|reject).*") ? ENOMEM : EINVAL;
    }

    private Rule ruleOf(String site, Interposer.Action action) {
        Outcome usual = action == Interposer.Action.DELAY ? Outcome.SUCCEEDS : Outcome.FAILS;
        return rules.stream()
                .filter(rule -> rule.site.matcher(site).matches())
                .findFirst()
                .orElse(new Rule(null, usual, ""));
    }

    private static boolean isExpected(Outcome outcome, Interposer.Call call, int errno, Steps steps) {
        if (outcome == Outcome.SUCCEEDS) {
            return steps.failures().isEmpty();
        }
        if (steps.failures().size() != 1 || !steps.failures().get(0).step().equals(steps.hitStep())) {
            return false;
        }
        Throwable cause = steps.failures().get(0).cause();
        switch (outcome) {
            case OUT_OF_MEMORY:
                return cause instanceof OutOfMemoryError;
            case TIMES_OUT:
                return cause instanceof AssertionError;
            default:
                return cause instanceof RpmaException failure
                        && namesOperation(failure, steps.hitStep())
                        && (outcome == Outcome.FAILS_WITHOUT_CAUSE || namesCause(failure, call, errno));
        }
    }

    private static boolean namesOperation(RpmaException failure, String step) {
        String functions = step.substring(step.lastIndexOf(' ') + 1);
        return List.of(functions.split("\\|")).contains(failure.operation());
    }

    /**
     * Whether the exception has the errno, or librpma's text with the function and the errno, or librpma's code of a
     * lack of memory.
     */
    private static boolean namesCause(RpmaException failure, Interposer.Call call, int errno) {
        if (call.caller().equals("shim") && call.function().endsWith("alloc")) {
            return failure.error() == RpmaError.NOMEM;
        }
        if (failure.errno() != 0 && failure.errno() != errno) {
            return false;
        }
        if (failure.errno() != 0 && !failure.detail().contains(" failed: ")) {
            return !failure.operation().startsWith("rpma_");
        }
        if (call.function().matches("malloc|calloc|mmap|ibv_alloc_pd") && failure.error() == RpmaError.NOMEM) {
            return true;
        }
        String function = call.caller().equals("device") ? "ibv_" + call.function() : call.function();
        // librpma has no message for some failures, and the shim then names the function of librpma
        boolean named = failure.detail().contains(function) || failure.detail().contains(failure.operation() + "()");
        return named && failure.detail().contains(TEXTS.get(errno));
    }

    private static String outcome(Steps steps) {
        if (steps.failures().isEmpty()) {
            return "no failure";
        }
        List<String> texts = new ArrayList<>();
        for (Steps.Failure failure : steps.failures()) {
            String text = failure.cause() instanceof RpmaException e
                    ? e.operation() + ": " + e.error() + (e.detail().isEmpty() ? "" : ": " + e.detail())
                    : failure.cause().toString();
            texts.add(failure.step().equals(steps.hitStep()) ? text : failure.step() + " fails with " + text);
        }
        return String.join("; then ", texts);
    }

    private static Map<String, Integer> objects(String list) {
        Map<String, Integer> objects = new TreeMap<>();
        Matcher matcher = OBJECTS.matcher(list);
        while (matcher.find()) {
            objects.put(matcher.group(2), Integer.valueOf(matcher.group(1)));
        }
        return objects;
    }

    /** The objects that the callers have not freed, and those that the device has not freed. */
    private String leaks(Map<String, Integer> deviceBefore) {
        List<String> leaks = new ArrayList<>();
        if (!Interposer.live().isEmpty()) {
            leaks.add(Interposer.live());
        }
        objects(device.get()).forEach((name, count) -> {
            int more = count - deviceBefore.getOrDefault(name, 0);
            if (more != 0) {
                leaks.add(more + " " + name + OF_DEVICE);
            }
        });
        return String.join(", ", leaks);
    }

    /** Prints the path of the table, and checks that each outcome was as expected. */
    @Override
    public void close() {
        table.close();
        System.out.println("table of calls and outcomes: " + file);
        assertThat(mismatches).isEmpty();
    }
}
