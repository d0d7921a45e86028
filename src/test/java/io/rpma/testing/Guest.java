package io.rpma.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A guest of {@code native/rxe}, as one of two hosts: runs a command, until it ends or the power is cut. */
public final class Guest implements AutoCloseable {
    /** Less than the time after which the tests' JVM is killed, which could not end its guests then. */
    private static final Duration LIMIT = Duration.ofMinutes(50);

    private final Jvm.Running rxe;

    private Guest(Jvm.Running rxe) {
        this.rxe = rxe;
    }

    /**
     * Boots a guest without persistent memory, of user-mode Linux if this host has no better one.
     *
     * @param link the directory of the link that the two hosts share
     * @param side 1 or 2: the host's address is 10.0.0.1 or 10.0.0.2
     * @param command run by a shell in the checkout
     */
    public static Guest boot(Path link, int side, String command) throws IOException {
        return boot(link, side, command, "1024");
    }

    /**
     * Boots a guest with persistent memory, of the image {@code rpma.target.image} or the default one. That of Debian 12 flushes
     * by a read, so programs are asked there to make bytes persistent.
     *
     * @param nvdimm keeps what the persistent memory holds
     */
    public static Guest boot(Path link, int side, Path nvdimm, String command) throws IOException {
        String image = System.getProperty("rpma.target.image", "trixie");
        return boot(link, side, command, "1536", "--nvdimm", nvdimm.toString(), "--image", image);
    }

    private static Guest boot(Path link, int side, String command, String memory, String... options)
            throws IOException {
        List<String> words = new ArrayList<>(List.of("native/rxe", "run", "--memory", memory));
        words.addAll(List.of("--time-limit", Long.toString(LIMIT.toSeconds()), "--link", link + ":" + side));
        words.addAll(List.of(options));
        words.addAll(List.of("--", "sh", "-c", command));
        return new Guest(new Jvm.Running(new ProcessBuilder(words).start(), LIMIT));
    }

    /** The command that runs a class of the tests or examples. */
    public static String java(Class<?> program, String arguments) {
        return "java -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED"
                + " -cp 'target/classes:target/test-classes:target/lib/*' " + program.getName() + " " + arguments;
    }

    /** What it prints, and its end. */
    public Jvm.Running command() {
        return rxe;
    }

    /** Enters an empty line, which its command waits for. */
    public void enter() throws InterruptedException {
        try {
            rxe.process().outputWriter().append('\n').flush();
        } catch (IOException e) {
            throw new AssertionError("a guest has ended: " + rxe.awaitEnd(), e);
        }
    }

    /**
     * Ends guests as a power cut does: at once, and with nothing written that was not persistent. The first one is cut first,
     * and no other one has time to do something about it.
     */
    public static void cutPower(Guest... guests) throws InterruptedException {
        List<ProcessHandle> machines = new ArrayList<>();
        for (Guest guest : guests) {
            machines.add(guest.machine());
        }
        machines.forEach(ProcessHandle::destroyForcibly);
        for (Guest guest : guests) {
            guest.rxe.process().waitFor();
        }
    }

    private ProcessHandle machine() {
        List<ProcessHandle> machines =
                rxe.process().descendants().filter(Guest::isMachine).toList();
        if (machines.size() != 1) {
            throw new AssertionError("not one machine that runs: " + machines + "\n" + rxe);
        }
        return machines.get(0);
    }

    /** Not by {@link ProcessHandle#info}, of which -Xcheck:jni complains on JDK 17. */
    private static boolean isMachine(ProcessHandle process) {
        try {
            String name = Files.readString(Path.of("/proc", Long.toString(process.pid()), "comm"))
                    .strip();
            return name.startsWith("qemu-system") || name.equals("linux");
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    @Override
    public void close() {
        rxe.close();
    }
}
