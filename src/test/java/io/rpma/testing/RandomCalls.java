// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaMrUsage;
import io.rpma.internal.OpenResources;
import io.rpma.internal.loop.PeerProbe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Makes random calls on the same objects in several threads. The calls may throw only the documented exceptions.
 *
 * <p>A thread's n-th call depends only on the seed (property {@code rpma.random.seed}), the thread and n, so that a
 * replay makes the same calls in each thread. The interleaving of the threads differs.
 */
public final class RandomCalls {
    private static final int THREADS = 6;

    /** A thread that has made no new call for this time is interrupted repeatedly. */
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(200);

    /** A thread that has made no new call for this time is stuck. */
    private static final long HANGS = TimeUnit.SECONDS.toNanos(60);

    private static final String OK = "ok";

    /** Texts in the library's IllegalStateExceptions. An IllegalStateException without such a text is a defect. */
    private static final List<String> STATES = List.of(
            " is closed",
            "an object of the call is closed",
            "can't be closed before",
            "has no receive queue of its own",
            "has no more than",
            "has no immediate data",
            "is served by",
            "does not serve",
            "no longer serves",
            "is checked by",
            "is running already",
            "a thread waits for",
            "has no device yet",
            "has no queue pair",
            "has a queue pair already",
            "has a shared receive queue",
            "listens",
            "does not listen",
            "has no request to",
            "has no connection",
            "is too late for set",
            "is for datagrams",
            "is for connections",
            "without F_SIGNALED fill the send queue",
            "all operations are receives",
            "is no ticket of a taken buffer");

    /** A part of every operation context, by which the context of a completion is checked. */
    private static final long MAGIC = 0x52504d41L << 32;

    private final long seed = Long.getLong("rpma.random.seed", new SplittableRandom().nextLong());
    private final int calls;

    /** Whether there are fewer calls than by default, so that a kind of call may never succeed. */
    private final boolean isShort;

    private final List<Action> actions = new ArrayList<>();
    private final List<Action> lots = new ArrayList<>();
    private final Map<AutoCloseable, Boolean> unclosed = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Object> leftovers = new ConcurrentLinkedQueue<>();
    private final List<Slots<?>> slots = new ArrayList<>();
    /** The contexts of the loops' probes. */
    private final Set<Long> probes = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean stop = new AtomicBoolean();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private Worker[] workers;

    /** The code that makes a call. */
    @FunctionalInterface
    public interface Body {
        /** Makes one call. */
        void call(Choice choice) throws Exception;
    }

    /**
     * Takes the number of calls from the property {@code rpma.random.calls}; the default is 10 times as high in long
     * tests.
     */
    public RandomCalls(int defaultCalls) {
        int longer = Boolean.getBoolean("rpma.long") ? 10 : 1;
        calls = Integer.getInteger("rpma.random.calls", longer * defaultCalls);
        isShort = calls < defaultCalls;
    }

    /**
     * Adds a call.
     *
     * @param weight the frequency of the call, relative to the other calls
     * @param documented the exceptions that the method may throw besides those for wrong arguments and closed objects
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public final void add(int weight, String name, Body body, Class<? extends Throwable>... documented) {
        Action action = new Action(name, body, List.of(documented));
        actions.add(action);
        for (int i = 0; i < weight; i++) {
            lots.add(action);
        }
    }

    /** Makes the calls, then closes everything and checks that nothing is left. */
    public void run() throws Exception {
        OpenResources before = OpenResources.now();
        try (Quiet quiet = new Quiet()) {
            makeCalls();
            quiet.check();
        }
        before.assertSameNow(THREADS);
    }

    private void makeCalls() throws Exception {
        System.out.println("random calls: " + calls + " with -Drpma.random.seed=" + seed);
        long start = System.nanoTime();
        workers = new Worker[THREADS];
        for (int i = 0; i < THREADS; i++) {
            workers[i] = new Worker(i);
        }
        for (Worker worker : workers) {
            worker.start();
        }
        for (boolean running = true; running; ) {
            running = false;
            for (Worker worker : workers) {
                running |= worker.isRunning();
            }
        }
        Throwable failure = failures.poll();
        if (failure != null) {
            failures.forEach(failure::addSuppressed);
            throw new AssertionError("with -Drpma.random.seed=" + seed, failure);
        }
        closeAll();
        System.out.println("random calls: done in " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms");
        if (System.getProperty("rpma.random.seed") != null) {
            actions.forEach(action -> System.out.println("  " + action));
        }
    }

    /** Checks that the calls on which all others depend have succeeded. */
    public void assertSucceeded(String... names) {
        if (isShort) {
            return;
        }
        for (String name : names) {
            Action action = actions.stream()
                    .filter(one -> one.name.equals(name))
                    .findAny()
                    .orElseThrow();
            if (!action.outcomes.containsKey(OK)) {
                throw new AssertionError("never succeeded: " + action);
            }
        }
    }

    /** Notes an object that has to be closed at the end. */
    private <T> T open(T object) {
        if (object instanceof AutoCloseable) {
            unclosed.put((AutoCloseable) object, true);
        }
        return object;
    }

    /** Closes an object that was replaced, or leaves it for later if other objects depend on it. */
    private void retire(Object object) throws Exception {
        if (!(object instanceof AutoCloseable)) {
            return;
        }
        try {
            ((AutoCloseable) object).close();
            unclosed.remove(object);
        } catch (IllegalStateException e) {
            checkState(e);
            leftovers.add(object);
        }
    }

    /** Tries again to close an object that could not be closed before. */
    public void retireLeftover() throws Exception {
        retire(leftovers.poll());
    }

    private void closeAll() throws Exception {
        int before;
        do {
            before = unclosed.size();
            for (AutoCloseable object : unclosed.keySet()) {
                retire(object);
            }
        } while (unclosed.size() < before);
        if (!unclosed.isEmpty()) {
            throw new AssertionError("can't be closed: " + unclosed.keySet());
        }
        slots.forEach(Slots::clear);
    }

    private static void checkState(IllegalStateException e) {
        if (e.getMessage() == null || STATES.stream().noneMatch(e.getMessage()::contains)) {
            throw new AssertionError("not a state of the library", e);
        }
    }

    /** Describes an object, open or closed, which must not fail. */
    public void describeOne(Choice choice) throws Nothing {
        Object object = slots.get(choice.random.nextInt(slots.size())).one(choice);
        try {
            object.toString();
        } catch (RuntimeException e) {
            throw new AssertionError("no text of a " + object.getClass(), e);
        }
    }

    /** Interrupts a random thread, which may be waiting without a timeout. */
    public void interruptOne(Choice choice) {
        workers[choice.random.nextInt(THREADS)].interrupt();
    }

    /** Objects that all threads use by random indexes. An index may have no object yet. */
    public final class Slots<T> {
        private final AtomicReferenceArray<T> objects;

        /** Creates room for this many objects. */
        public Slots(int size) {
            objects = new AtomicReferenceArray<>(size);
            slots.add(this);
        }

        private void clear() {
            for (int i = 0; i < objects.length(); i++) {
                objects.set(i, null);
            }
        }

        /** An object, open or closed; rarely null. */
        public T any(Choice choice) throws Nothing {
            int index = choice.random.nextInt(objects.length());
            return choice.maybeNull(some(index));
        }

        /** An object to call. */
        public T one(Choice choice) throws Nothing {
            return some(choice.random.nextInt(objects.length()));
        }

        private T some(int index) throws Nothing {
            T object = objects.get(index);
            if (object == null) {
                throw Nothing.HERE;
            }
            return object;
        }

        /** Puts a new object in the place of another object, and closes the other object. */
        public void put(Choice choice, T object) throws Exception {
            retire(objects.getAndSet(choice.random.nextInt(objects.length()), open(object)));
        }
    }

    /** Thrown when there is no object at an index yet. */
    public static final class Nothing extends Exception {
        private static final long serialVersionUID = 1L;
        /** The only instance. */
        public static final Nothing HERE = new Nothing();

        private Nothing() {
            super("nothing here", null, false, false);
        }
    }

    /** The arguments of one call. */
    public static final class Choice {
        /** The source of all choices of this thread. */
        public final SplittableRandom random;
        /** The completions that this thread polls. */
        public final RpmaCompletions completions;

        private final Set<Long> probes;
        private boolean hasNull;

        private Choice(SplittableRandom random, RpmaCompletions completions, Set<Long> probes) {
            this.random = random;
            this.completions = completions;
            this.probes = probes;
        }

        /** True in one of {@code bound} calls on average. */
        public boolean oneIn(int bound) {
            return random.nextInt(bound) == 0;
        }

        /** The object; rarely null. */
        public <T> T maybeNull(T object) {
            if (oneIn(64)) {
                hasNull = true;
                return null;
            }
            return object;
        }

        /** One of the values; rarely null. */
        @SafeVarargs
        public final <T> T of(T... values) {
            return maybeNull(values[random.nextInt(values.length)]);
        }

        /** Mostly a small number that is a valid offset or length. */
        public long number() {
            switch (random.nextInt(24)) {
                case 0:
                    return -1 - random.nextInt(16);
                case 1:
                    return Long.MAX_VALUE - random.nextInt(16);
                case 2:
                    return (1L << 32) + random.nextInt(16);
                case 3:
                    return random.nextLong();
                case 4:
                    return random.nextInt(8192);
                default:
                    return 8L * random.nextInt(8);
            }
        }

        /** Mostly a small number. */
        public int size() {
            switch (random.nextInt(24)) {
                case 0:
                    return -1 - random.nextInt(16);
                case 1:
                    return Integer.MAX_VALUE - random.nextInt(16);
                default:
                    return random.nextInt(40);
            }
        }

        /** Mostly a valid combination of the flags of a post. */
        public int flags() {
            return oneIn(16) ? random.nextInt(-2, 8) : oneIn(3) ? 1 : 3;
        }

        /** An operation context that {@link #check} recognises. */
        public long context() {
            return MAGIC | random.nextInt(Integer.MAX_VALUE);
        }

        /** Makes {@link #check} recognise the context of a loop's probes, whose completions a poll can find. */
        public void recognise(PeerProbe probe) {
            probes.add(probe.context());
        }

        /** Microseconds, mostly few. */
        public long timeout() {
            return oneIn(32) ? -1 : oneIn(2) ? 0 : random.nextInt(2000);
        }

        /** The unit of {@link #timeout}; rarely null. */
        public TimeUnit unit() {
            return maybeNull(TimeUnit.MICROSECONDS);
        }

        /** Random bytes, at most this many. */
        public byte[] bytes(int most) {
            byte[] bytes = new byte[random.nextInt(most + 1)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) random.nextInt();
            }
            return bytes;
        }

        /** Mostly all usages that every device allows. */
        public RpmaMrUsage[] usages() {
            RpmaMrUsage[] all = RpmaMrUsage.values();
            if (oneIn(8)) {
                RpmaMrUsage[] some = new RpmaMrUsage[random.nextInt(4)];
                for (int i = 0; i < some.length; i++) {
                    some[i] = of(all);
                }
                return some;
            }
            // devices refuse a flush type for persistence if the memory is not persistent
            return Arrays.stream(all)
                    .filter(usage -> usage != RpmaMrUsage.FLUSH_TYPE_PERSISTENT)
                    .toArray(RpmaMrUsage[]::new);
        }

        /** Checks all completions that were polled. */
        public void check(int taken) {
            if (taken != completions.count() || taken > completions.capacity()) {
                throw new AssertionError(taken + " taken, but there are " + completions);
            }
            for (int i = 0; i < taken; i++) {
                if ((completions.wrId(i) & ~0xffffffffL) != MAGIC && !probes.contains(completions.wrId(i))) {
                    throw new AssertionError("not the context of an operation: " + completions);
                }
                completions.status(i);
                if (completions.isSuccess(i)) {
                    completions.opcode(i);
                    completions.byteLen(i);
                }
            }
        }
    }

    /** Keeps log records off the console, and collects reports of objects that were dropped. */
    private static final class Quiet extends Handler implements AutoCloseable {
        private static final Logger LOGGER = Logger.getLogger("io.rpma");

        private final ConcurrentLinkedQueue<String> dropped = new ConcurrentLinkedQueue<>();
        private final RpmaLogLevel threshold = RpmaLog.getThreshold(RpmaLogThreshold.MAIN);

        Quiet() {
            LOGGER.setUseParentHandlers(false);
            LOGGER.addHandler(this);
        }

        @Override
        public void publish(LogRecord record) {
            if (record.getMessage().contains("was dropped without close()")) {
                dropped.add(record.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            LOGGER.removeHandler(this);
            LOGGER.setUseParentHandlers(true);
            RpmaLog.setFunction(null);
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, threshold);
        }

        void check() {
            if (!dropped.isEmpty()) {
                throw new AssertionError(dropped.toString());
            }
        }
    }

    private static final class Action {
        private final String name;
        private final Body body;
        private final List<Class<? extends Throwable>> documented;
        private final Map<String, LongAdder> outcomes = new ConcurrentHashMap<>();
        private final LongAdder nanos = new LongAdder();

        Action(String name, Body body, List<Class<? extends Throwable>> documented) {
            this.name = name;
            this.body = body;
            this.documented = documented;
        }

        void call(Choice choice) throws Throwable {
            String outcome = OK;
            long start = System.nanoTime();
            try {
                body.call(choice);
            } catch (Nothing e) {
                outcome = "nothing there";
            } catch (Throwable e) {
                outcome = e.getClass().getSimpleName();
                check(choice, e);
            }
            nanos.add(System.nanoTime() - start);
            outcomes.computeIfAbsent(outcome, key -> new LongAdder()).increment();
        }

        private void check(Choice choice, Throwable e) throws Throwable {
            if (e instanceof IllegalStateException) {
                checkState((IllegalStateException) e);
            } else if (e instanceof NullPointerException ? !choice.hasNull : !isWrongArgument(e) && !isDocumented(e)) {
                throw e;
            }
            if (e instanceof RpmaException) {
                checkError((RpmaException) e);
            }
        }

        private static boolean isWrongArgument(Throwable e) {
            return e instanceof IllegalArgumentException || e instanceof IndexOutOfBoundsException;
        }

        private boolean isDocumented(Throwable e) {
            return documented.stream().anyMatch(type -> type.isInstance(e));
        }

        private static void checkError(RpmaException e) {
            if (e.error() == RpmaError.NO_COMPLETION || e.error() == RpmaError.NO_EVENT) {
                throw new AssertionError("an answer and no error", e);
            }
        }

        @Override
        public String toString() {
            return name + " " + new TreeMap<>(outcomes) + " in " + TimeUnit.NANOSECONDS.toMillis(nanos.sum()) + " ms";
        }
    }

    private final class Worker extends Thread {
        private final int number;
        private final AtomicInteger made = new AtomicInteger();
        private final RpmaCompletions completions;
        private volatile String current = "";
        private int seen = -1;
        private long seenSince;

        Worker(int number) {
            super("random calls " + number);
            this.number = number;
            completions = RpmaCompletions.create(1 + number);
            setDaemon(true);
        }

        @Override
        public void run() {
            for (int call = 0; call < calls / THREADS && !stop.get(); call++) {
                made.set(call);
                Choice choice =
                        new Choice(new SplittableRandom(seed ^ (long) (number + 1) << 48 ^ call), completions, probes);
                Action action = lots.get(choice.random.nextInt(lots.size()));
                current = action.name;
                try {
                    action.call(choice);
                } catch (Throwable e) {
                    failures.add(new AssertionError("call " + call + " of thread " + number + ": " + action.name, e));
                    stop.set(true);
                }
            }
        }

        /** Interrupts the thread if it makes no progress, and records a failure if it is stuck. */
        boolean isRunning() throws InterruptedException {
            join(2);
            int now = made.get();
            if (now != seen) {
                seen = now;
                seenSince = System.nanoTime();
                return isAlive();
            }
            long waited = System.nanoTime() - seenSince;
            if (waited > PATIENCE) {
                interrupt();
            }
            if (waited > HANGS && isAlive()) {
                AssertionError stuck = new AssertionError(getName() + " is stuck in call " + now + ": " + current);
                stuck.setStackTrace(getStackTrace());
                failures.add(stuck);
                stop.set(true);
                return false;
            }
            return isAlive();
        }
    }
}
