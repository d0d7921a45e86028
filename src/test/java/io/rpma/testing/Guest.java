// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A guest of {@code native/rxe} as one of two hosts. It runs a command until the command ends or the power is cut. */
public final class Guest implements AutoCloseable {
    /** In seconds: longer than a wait for a line of the guest, so that a guest can be diagnosed after such a wait. */
    private static final int LIMIT_S = 2 * Limit.WAIT_S;

    /** Prints the state of the JVM that the shell has started last, and of the guest's kernel. */
    private static final String DIAGNOSE = "jcmd $! Thread.print; grep State: /proc/$!/task/*/status;"
            + " tail -n +1 /proc/$!/task/*/stack; rdma link; rdma resource; rdma resource show cm_id; rdma resource show qp;"
            + " dmesg | grep -v 'speed is unknown' | tail -n 50;";

    private static final String DIAGNOSED = "end of the diagnosis";
    private static final Duration DIAGNOSIS = Duration.ofSeconds(30);

    private final Jvm.Running rxe;

    private Guest(Jvm.Running rxe) {
        this.rxe = rxe;
    }

    /**
     * Boots a guest without persistent memory, in user-mode Linux if no better bed works on this host.
     *
     * @param link the directory of the link that the two hosts share
     * @param side 1 or 2: the host's address is 10.0.0.1 or 10.0.0.2
     * @param command run by a shell in the checkout
     */
    public static Guest boot(Path link, int side, String command) throws IOException {
        return boot(link, side, command, "1024");
    }

    /**
     * Boots a guest with persistent memory and one processor: the guests of several tests run at the same time, and
     * emulated processors that wait for each other waste the host's. In the image of Debian 12 (bookworm) a flush is a
     * read, so the program on the server is asked to make the bytes persistent.
     *
     * @param nvdimm the file that keeps the contents of the persistent memory
     * @param image the image of {@code native/rxe}
     */
    public static Guest boot(Path link, int side, Path nvdimm, String image, String command) throws IOException {
        return boot(link, side, command, "1536", "--cpus", "1", "--nvdimm", nvdimm.toString(), "--image", image);
    }

    private static Guest boot(Path link, int side, String command, String memory, String... options)
            throws IOException {
        List<String> words = new ArrayList<>(List.of("native/rxe", "run", "--memory", memory));
        words.addAll(List.of("--time-limit", Integer.toString(LIMIT_S), "--link", link + ":" + side));
        words.addAll(List.of(options));
        words.addAll(List.of("--", "sh", "-c", command));
        return new Guest(new Jvm.Running(new ProcessBuilder(words).start(), Duration.ofSeconds(LIMIT_S), false));
    }

    /**
     * The command that runs a class of this class path. If its JVM crashes, native/rxe test finds the file in its part.
     */
    public static String java(Class<?> program, String arguments) {
        return "java -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED"
                + " '-XX:ErrorFile=" + System.getProperty("rpma.test.output") + "/hs_err_%p.log'"
                + " -cp '" + System.getProperty("java.class.path") + "' " + program.getName() + " " + arguments;
    }

    /** The running command, for its output and its end. */
    public Jvm.Running command() {
        return rxe;
    }

    /** Enters an empty line, for which the command waits. */
    public void enter() throws InterruptedException {
        enter("");
    }

    /** Enters a line, for which the command waits. */
    public void enter(String line) throws InterruptedException {
        try {
            rxe.process().outputWriter().append(line).append('\n').flush();
        } catch (IOException e) {
            throw new AssertionError("a guest has ended: " + rxe.awaitEnd(), e);
        }
    }

    /**
     * The output of a guest whose command is a shell, with the stacks of the JVM that the shell has started last. The
     * output is incomplete if the guest does not answer or has ended.
     */
    public String diagnosis() throws InterruptedException {
        if (rxe.process().isAlive()) {
            enter("{ " + DIAGNOSE + " } 2>&1; echo " + DIAGNOSED);
            rxe.awaitLine(DIAGNOSED, 1, DIAGNOSIS);
        }
        return rxe.toString();
    }

    /**
     * Ends guests as a power cut does: at once, and without writing bytes that are not persistent. The first guest ends
     * first, and the others have no time to react.
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

    /** Avoids {@link ProcessHandle#info}, which causes warnings of -Xcheck:jni on JDK 17. */
    private static boolean isMachine(ProcessHandle process) {
        try {
            Path files = Path.of("/proc", Long.toString(process.pid()));
            // The loader of the image's libraries starts the image's QEMU, and gives the process its own name.
            return Files.readString(files.resolve("comm")).strip().equals("linux")
                    || Stream.of(Files.readString(files.resolve("cmdline")).split("\0"))
                            .limit(4)
                            .anyMatch(word ->
                                    word.substring(word.lastIndexOf('/') + 1).startsWith("qemu-system"));
        } catch (IOException e) {
            return false; // the process has ended
        }
    }

    @Override
    public void close() {
        rxe.close();
    }
}
