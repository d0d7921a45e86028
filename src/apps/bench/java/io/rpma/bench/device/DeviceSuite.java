// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaDevice;
import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import io.rpma.bench.Language;
import io.rpma.bench.Machine;
import io.rpma.bench.Repeats;
import io.rpma.bench.Report;
import io.rpma.bench.Result;
import io.rpma.support.Program;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The benchmarks on a device: round trips, throughput, many connections, registration and start. */
@Command(name = "device", description = "Measures operations on an RDMA device.")
public final class DeviceSuite implements Callable<Integer> {
    private static final String SUITE = "device";
    private static final int SOFT_ROCE_VENDOR = 0xffffff;
    private static final Path SAMPLES = Bench.OUTPUT.resolve("samples");
    private static final Path FILE = Bench.OUTPUT.resolve(SUITE + ".json");
    /** The number of rounds of the measurements with many connections, after each start of the clients. */
    private static final int MANY_ROUNDS = 3;

    private static final int SPREAD_COUNT = 2000;

    /** The minimum number of operations of a loop, in total and for each of its connections. */
    private static final int LOOP_COUNT = 4000;

    private static final int LOOP_LEAST = 10;

    /**
     * By default, HotSpot's second compiler compiles a method after 5,000 calls, or 15,000 calls and iterations of its
     * loops.
     */
    private static final long WARM_UP_COUNT = 15_000;

    /** Waits reach their final speed only after more than 15,000 operations. Before, they are 5 % slower. */
    private static final long WARM_UP_WAITS = 20_000;

    private static final Set<Language> WARMED_UP = EnumSet.of(Language.JAVA, Language.BARE);

    /**
     * Connections and registrations need little warm-up: a measurement has few of them, and their code is compiled
     * early or never.
     */
    private static final int FRESH_CONNECTIONS = 10;

    private static final int FRESH_COUNT = 1000;

    private static final int WARM_UP_DEPTH = 16;

    /** The minimum and maximum number of operations of a measurement. */
    private static final long LEAST_COUNT = 20;

    private static final long MOST_COUNT = 200_000;

    /**
     * The minimum number of operations for a p99. Round trips use this number if their rounds then take at most
     * {@link #LONGER} times as long.
     */
    private static final long P99_COUNT = 1000;

    private static final long LONGER = 3;

    private static final int TRIES = 3;

    /**
     * The phases of a program up to its first completed write. The program prints the time at the end of each phase.
     */
    private static final List<String> PHASES =
            List.of("process", "library", "device", "peer", "registration", "connection", "write");

    @Option(names = "--address", required = true, paramLabel = "ADDRESS", description = "Address of the RDMA device.")
    private String address;

    @Option(
            names = "--port",
            defaultValue = "7310",
            paramLabel = "PORT",
            description = "The first of five free ports; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--pmem",
            paramLabel = "PATH",
            description = "A device DAX, for flushes to persistent memory, which need a device with native flush.")
    private Path pmem;

    @Option(names = "--quick", description = "Run shorter measurements.")
    private boolean quick;

    @Option(
            names = "--sections",
            split = ",",
            paramLabel = "SECTION",
            converter = SectionConverter.class,
            description =
                    "Measure only these sections: operations (of one connection), connections (many of librpma), ids (many"
                            + " of librdmacm), cold (registration, opening, the start of a program). The report replaces the"
                            + " report of another run.")
    private List<Section> sections = List.of(Section.values());

    @Option(
            names = "--operations",
            split = ",",
            paramLabel = "OPERATION",
            converter = OperationConverter.class,
            description =
                    "Measure only these operations in the section operations. The JVMs then run only these operations"
                            + " before the measurements too, and have not compiled the code of others.")
    private List<Operation> operations = List.of();

    @Option(
            names = "--client-jvm",
            split = " ",
            paramLabel = "OPTION",
            description = "Options of the JVMs that are measured warm, separated by blanks.")
    private List<String> clientJvm = List.of();

    @Option(
            names = "--client-cpu",
            paramLabel = "CPU",
            description = "Processor of the clients that are measured warm; default any.")
    private Integer clientCpu;

    @Option(
            names = "--target-cpu",
            paramLabel = "CPU",
            description = "Processor of the target of the clients that are measured warm; default any.")
    private Integer targetCpu;

    @Option(
            names = "--librpma",
            defaultValue = "of unknown version",
            paramLabel = "VERSION",
            description = "The version of librpma, for the report.")
    private String librpma;

    @Spec
    private CommandSpec command;

    private final Measurements measurements = new Measurements();
    private Repeats repeats;
    private final Map<Point, Long> counts = new HashMap<>();
    private final long started = System.nanoTime();

    /** The sections of the suite. */
    enum Section {
        /** The operations of one connection. */
        OPERATIONS,
        /** Many connections of librpma. */
        CONNECTIONS,
        /** Many ids of librdmacm. */
        IDS,
        /** Registration, the opening of connections, and the start of a program: in clients that are not warm. */
        COLD
    }

    /** Converts the name of a section. */
    static final class SectionConverter implements ITypeConverter<Section> {
        @Override
        public Section convert(String name) {
            return Stream.of(Section.values())
                    .filter(section -> section.name().toLowerCase(Locale.ROOT).equals(name))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("no section " + name));
        }
    }

    /** Converts the name of an operation. */
    static final class OperationConverter implements ITypeConverter<Operation> {
        @Override
        public Operation convert(String name) {
            try {
                return Operation.of(name);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Makes the suite for the command line. */
    public DeviceSuite() {}

    @Override
    public Integer call() throws Exception {
        RpmaDevice device = RpmaDevice.local(address);
        String title = device.vendorId() == SOFT_ROCE_VENDOR ? "soft-RoCE" : device.name();
        // an emulated flush makes nothing persistent unless the target's platform does more
        boolean persistent = pmem != null && RpmaDevice.remote(address).isFlushNative();
        Plan plan = (quick ? Plan.quick(persistent) : Plan.full(persistent)).only(operations);
        Program.check(command, "--operations", !plan.points().isEmpty(), "has no operation of this run");
        repeats = new Repeats(plan.repetitions());
        Files.createDirectories(Bench.OUTPUT);
        Machine machine = Machine.here(librpma, title);
        try {
            measure(plan);
        } catch (Exception e) {
            keep(machine, measurements.results(), FILE, e);
            throw e;
        }
        List<Result> results = measurements.results();
        return Bench.finish(new Report(SUITE, machine, results, DeviceTargets.of(results)), command);
    }

    /**
     * Writes the results until a failure into the file of the report, because a run takes an hour. The report has no
     * targets, because its results are not complete. Without a result, the file remains as it is.
     */
    static void keep(Machine machine, List<Result> results, Path file, Exception failure) {
        if (results.isEmpty()) {
            return;
        }
        try {
            new Report(SUITE, machine, results, List.of()).write(file);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private void measure(Plan plan) throws Exception {
        Placement placement = new Placement(clientCpu, targetCpu);
        if (sections.stream().anyMatch(section -> section != Section.COLD)) {
            for (int start = 0; start < plan.starts(); start++) {
                say("starting the clients, " + (start + 1) + "/" + plan.starts());
                try (Clients clients =
                        Clients.start(EnumSet.allOf(Language.class), address, port, pmem, clientJvm, placement)) {
                    measureWarm(clients, plan, start);
                }
            }
        }
        if (sections.contains(Section.COLD)) {
            measureCold(plan);
        }
    }

    private void measureWarm(Clients clients, Plan plan, int start) throws Exception {
        warmUp(clients, plan);
        if (sections.contains(Section.OPERATIONS)) {
            measurePoints(clients, plan, start);
        }
        if (sections.contains(Section.CONNECTIONS)) {
            measureMany(clients, plan, start);
        }
        if (sections.contains(Section.IDS)) {
            measureIds(clients, plan, start);
        }
    }

    /**
     * Runs the operations of the plan before the first measurement, so that the JVMs compile the code of all of them.
     */
    private void warmUp(Clients clients, Plan plan) throws IOException {
        Set<Point> small = new LinkedHashSet<>();
        for (Point point : plan.points()) {
            small.add(new Point(
                    point.operation(), Long.BYTES, Math.min(point.depth(), WARM_UP_DEPTH), point.completions()));
        }
        for (Point point : small) {
            say("warming up " + point);
            long posts = point.completions() == Completions.POLL ? WARM_UP_COUNT : WARM_UP_WAITS;
            boolean chained = point.operation() == Operation.RDMA_WRITE_CHAINED;
            long count = chained ? posts * Load.chainLength(point.depth()) : posts;
            for (Language language : point.languages()) {
                if (WARMED_UP.contains(language)) {
                    run(clients, language, point, count);
                }
            }
        }
    }

    /** Measures with clients that are not warm. */
    private void measureCold(Plan plan) throws Exception {
        try (Clients clients = Clients.start(Language.EVERYWHERE, address, port, pmem, List.of(), Placement.ANY)) {
            tryOut(clients);
            measureRegistration(clients, plan);
            measureGrowth(clients, plan);
            measureStartup(plan);
        }
    }

    /** Runs a few registrations and connections before they are measured. */
    private void tryOut(Clients clients) throws IOException {
        say("trying out registration and connections");
        for (Language language : Language.EVERYWHERE) {
            clients.run(language, "regions " + FRESH_COUNT);
            clients.run(language, "connect " + FRESH_CONNECTIONS);
            clients.run(language, "disconnect");
        }
    }

    /** A part of a run, which adds its rounds to the measurements. */
    private interface Part {
        void measure(Measurements to) throws Exception;
    }

    /** Measures a part, and repeats it if it is noisy. */
    private void measureQuietly(Part part) throws Exception {
        measurements.addAll(repeats.quietest(
                () -> {
                    Measurements measured = new Measurements();
                    part.measure(measured);
                    return measured;
                },
                measured -> DeviceTargets.of(measured.results())));
    }

    private void measurePoints(Clients clients, Plan plan, int start) throws Exception {
        int firstRound = start * plan.rounds();
        int number = 0;
        for (Point point : plan.points()) {
            number++;
            long count = count(clients, point, plan.millis());
            say(number + "/" + plan.points().size() + " " + point + ", " + plan.rounds() + " rounds of " + count);
            // The first operations are much slower than the following operations.
            for (Language language : point.languages()) {
                run(clients, language, point, least(point));
            }
            measureQuietly(to -> {
                for (int round = firstRound; round < firstRound + plan.rounds(); round++) {
                    for (Language language : order(point.languages(), round)) {
                        measure(clients, language, point, count, to);
                    }
                }
            });
        }
    }

    /**
     * Returns the number of operations that take this time. It is the same after each start, so that all rounds have
     * the same percentiles.
     */
    private long count(Clients clients, Point point, long millis) throws IOException {
        Long known = counts.get(point);
        if (known == null) {
            known = tryCount(clients, point, millis);
            counts.put(point, known);
        }
        return known;
    }

    /** Determines the number of operations that take this time, by tries in C. */
    private static long tryCount(Clients clients, Point point, long millis) throws IOException {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        long count = least(point);
        for (int i = 0; i < TRIES; i++) {
            long tried = clients.run(Language.C, point.command(count))[0];
            count = Math.max(least(point), Math.min(MOST_COUNT, count * nanos / tried));
        }
        return point.isRoundTrip() && count * LONGER >= P99_COUNT ? Math.max(count, P99_COUNT) : count;
    }

    private static long least(Point point) {
        return Math.max(LEAST_COUNT, 2L * point.depth());
    }

    private void measure(Clients clients, Language language, Point point, long count, Measurements to)
            throws IOException {
        String name = point.operation().command();
        double seconds = run(clients, language, point, count) / 1e9;
        if (point.isRoundTrip()) {
            to.add(name, point.params(), language, Samples.read(SAMPLES));
        } else {
            to.add(name, point.params(), language, "ops/s", count / seconds);
        }
    }

    /**
     * Runs this number of operations in a client, and returns their time. If they are round trips, the client also
     * writes samples.
     */
    private static long run(Clients clients, Language language, Point point, long count) throws IOException {
        String load = point.command(count);
        return clients.run(language, point.isRoundTrip() ? load + " " + SAMPLES : load)[0];
    }

    private void measureRegistration(Clients clients, Plan plan) throws IOException {
        for (Plan.Registration registration : plan.registered()) {
            // the kernel needs memory beside the registered bytes, and refuses a registration that it can't pin
            if (registration.bytes() + registration.bytes() / 2 > Machine.availableMemory()) {
                say("not registering " + registration + ": too little memory");
                continue;
            }
            say("registering " + registration);
            for (int number = 0; number < plan.coldRounds(); number++) {
                Measurements round = new Measurements();
                for (Language language : order(number)) {
                    long[] times = clients.run(language, registration.command());
                    round.add("register", registration.params(), language, "us", times[0] / 1e3);
                    round.add("deregister", registration.params(), language, "us", times[1] / 1e3);
                }
                measurements.addAll(round);
            }
        }
        Map<String, String> params = Map.of("regions", Integer.toString(plan.regions()));
        for (int number = 0; number < plan.scaleRounds(); number++) {
            Measurements round = new Measurements();
            for (Language language : order(number)) {
                say("registering " + plan.regions() + " regions in " + language);
                long[] growth = clients.run(language, "regions " + plan.regions());
                addGrowth("region", params, language, growth, plan.regions(), round);
            }
            measurements.addAll(round);
        }
    }

    private void measureGrowth(Clients clients, Plan plan) throws IOException {
        for (int number = 0; number < plan.scaleRounds(); number++) {
            Measurements round = new Measurements();
            for (Language language : order(plan.scaled(), number)) {
                say("connecting up to " + Collections.max(plan.grown()) + " times in " + language);
                grow(clients, language, plan.grown(), round);
            }
            measurements.addAll(round);
        }
    }

    private void grow(Clients clients, Language language, List<Integer> connections, Measurements to)
            throws IOException {
        int before = 0;
        for (int count : connections) {
            Map<String, String> params = ofMany(count);
            long[] growth = clients.run(language, "connect " + count);
            addGrowth("connection", params, language, growth, count - before, to);
            before = count;
        }
        measureLoopRegistration(clients, language, before, to);
        double nanos = clients.run(language, "disconnect")[0];
        to.add("disconnect", Map.of(), language, "us", nanos / 1e3 / before);
    }

    private void measureLoopRegistration(Clients clients, Language language, int connections, Measurements to)
            throws IOException {
        long[] answer = runMany(clients, language, "loop", connections, connections);
        to.add("loop registration", ofMany(connections), language, "us", answer[1] / 1e3 / connections);
        if (answer.length > 2) {
            double heap = (double) answer[2] / connections;
            to.add("loop registration heap", ofMany(connections), language, "B", heap);
        }
    }

    /** Measures with all connections open and only some in use, so that only the number of used connections changes. */
    private void measureMany(Clients clients, Plan plan, int start) throws Exception {
        int firstRound = start * MANY_ROUNDS;
        int most = Collections.max(plan.connections());
        for (Language language : Language.EVERYWHERE) {
            say("connecting " + most + " times in " + language);
            clients.run(language, "connect " + most);
        }
        say("warming up writes on each of " + most + " connections");
        runMany(clients, Language.JAVA, "spread", WARM_UP_COUNT, most);
        for (int count : plan.connections()) {
            runMany(clients, Language.JAVA, "loop", WARM_UP_COUNT, count);
        }
        say("writing on some of " + most + " connections in turn");
        measureQuietly(to -> {
            for (int round = firstRound; round < firstRound + MANY_ROUNDS; round++) {
                for (int count : plan.connections()) {
                    for (Language language : order(round)) {
                        measureSpread(clients, language, count, to);
                    }
                }
            }
        });
        for (int count : plan.connections()) {
            say("writing on " + count + " of " + most + " connections in a loop");
            measureQuietly(to -> {
                for (int round = firstRound; round < firstRound + MANY_ROUNDS; round++) {
                    for (Language language : order(round)) {
                        measureLoop(clients, language, "loop", count, to);
                    }
                }
            });
        }
        for (Language language : Language.EVERYWHERE) {
            say("disconnecting in " + language);
            clients.run(language, "disconnect");
        }
    }

    /** Measures writes on ids of librdmacm, served by one thread. The ids stay open until the clients end. */
    private void measureIds(Clients clients, Plan plan, int start) throws Exception {
        int firstRound = start * MANY_ROUNDS;
        int most = Collections.max(plan.ids());
        for (Language language : Language.EVERYWHERE) {
            say("connecting " + most + " ids in " + language);
            clients.run(language, "rdma-connect " + most);
        }
        for (int count : plan.ids()) {
            runMany(clients, Language.JAVA, "rdma-loop", WARM_UP_COUNT, count);
            say("writing on " + count + " of " + most + " ids in a loop");
            measureQuietly(to -> {
                for (int round = firstRound; round < firstRound + MANY_ROUNDS; round++) {
                    for (Language language : order(round)) {
                        measureLoop(clients, language, "rdma-loop", count, to);
                    }
                }
            });
        }
    }

    /** Measures one write at a time, on each connection in turn. */
    private void measureSpread(Clients clients, Language language, int connections, Measurements to)
            throws IOException {
        runMany(clients, language, "spread", SPREAD_COUNT, connections);
        to.add("spread write", ofMany(connections), language, Samples.read(SAMPLES));
    }

    /** Measures writes on all connections at once, served by one thread. */
    private void measureLoop(Clients clients, Language language, String loop, int connections, Measurements to)
            throws IOException {
        int count = Math.max(LOOP_COUNT, LOOP_LEAST * connections);
        double seconds = runMany(clients, language, loop, count, connections)[0] / 1e9;
        to.add(loop + " write", ofMany(connections), language, Samples.read(SAMPLES));
        to.add(loop + " write", ofMany(connections), language, "ops/s", count / seconds);
    }

    private static Map<String, String> ofMany(int connections) {
        return Map.of("connections", Integer.toString(connections));
    }

    private static long[] runMany(Clients clients, Language language, String command, long count, int connections)
            throws IOException {
        return clients.run(language, command + " " + count + " " + connections + " " + SAMPLES);
    }

    /** Adds the cost of one of {@code count} new objects: its time, its memory, and in Java its heap. */
    private static void addGrowth(
            String name, Map<String, String> params, Language language, long[] growth, int count, Measurements to) {
        to.add(name, params, language, "us", growth[0] / 1e3 / count);
        to.add(name + " memory", params, language, "KB", (double) growth[1] / count);
        if (growth.length > 2) {
            to.add(name + " heap", params, language, "B", (double) growth[2] / count);
        }
    }

    private void measureStartup(Plan plan) throws Exception {
        String jar = System.getProperty("rpma.jar", "target/classes");
        String classPath = jar + ":target/apps/classes";
        List<String> c = List.of(Clients.program("startup"), address, Integer.toString(port));
        List<String> java = Clients.java(List.of(), classPath, Startup.class, address, Integer.toString(port));
        say("starting " + plan.coldRounds() + " times");
        measureQuietly(to -> {
            for (int round = 0; round < plan.coldRounds(); round++) {
                for (Language language : order(round)) {
                    measureStartup(language, language == Language.JAVA ? java : c, to);
                }
            }
        });
    }

    private void measureStartup(Language language, List<String> program, Measurements to)
            throws IOException, InterruptedException {
        long spawned = System.nanoTime();
        String answer = CPrograms.run(program.toArray(new String[0])).strip();
        long last = spawned;
        long[] times = ClientProcess.numbers(program.get(0), answer);
        for (int i = 0; i < times.length; i++) {
            // In C, the library is loaded before main begins, so that this phase takes no time.
            if (times[i] > last) {
                to.add("start", Map.of("phase", PHASES.get(i)), language, "ms", (times[i] - last) / 1e6);
            }
            last = times[i];
        }
        to.add("start", Map.of("phase", "all"), language, "ms", (last - spawned) / 1e6);
    }

    private static List<Language> order(int round) {
        return order(Language.EVERYWHERE, round);
    }

    /** Returns the order of the programs in a round. The first program changes with each round. */
    private static List<Language> order(List<Language> languages, int round) {
        List<Language> order = new ArrayList<>(languages);
        Collections.rotate(order, round);
        return order;
    }

    private void say(String what) {
        PrintWriter progress = command.commandLine().getErr();
        progress.printf(Locale.ROOT, "%4d s  %s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started), what);
        progress.flush();
    }
}
