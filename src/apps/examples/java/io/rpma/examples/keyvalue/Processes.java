// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The servers of a store on this host, each a process of its own. */
final class Processes implements AutoCloseable {
    private final Path directory;
    private final String servers;
    private final Map<String, Process> processes = new TreeMap<>();

    /**
     * Makes a store without a process.
     *
     * @param directory for the logs of the servers
     * @param address an address of this host's RDMA device
     * @param port the first of the ports
     */
    Processes(Path directory, String address, int port, List<String> ids) {
        this.directory = directory;
        List<String> places = new ArrayList<>();
        for (String id : ids) {
            places.add(id + "=" + address + ":" + (port + places.size()));
        }
        servers = String.join(",", places);
    }

    Group group() {
        return Group.parse(servers);
    }

    /** Starts the process of a server. {@link #await} waits for it. */
    void start(String id) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KeyValue.class.getName(),
                        "server",
                        "--servers",
                        servers,
                        "--id",
                        id,
                        "--directory",
                        directory.resolve(id).toString())
                .redirectError(ProcessBuilder.Redirect.appendTo(log(id)))
                .start();
        processes.put(id, process);
    }

    private File log(String id) {
        return directory.resolve(id + ".log").toFile();
    }

    /**
     * Waits until a server listens, which its first line tells.
     *
     * @throws IOException if it has ended instead
     */
    void await(String id) throws IOException {
        if (processes.get(id).inputReader().readLine() == null) {
            throw ended(id);
        }
    }

    private IOException ended(String id) {
        return new IOException("the server " + id + " has ended: see " + log(id));
    }

    /** Kills the process of a server, as a crash or {@code kill -9} does. */
    void kill(String id) throws InterruptedException {
        processes.remove(id).destroyForcibly().waitFor();
    }

    /**
     * Checks that the processes run.
     *
     * @throws IOException if one has ended by itself
     */
    void check() throws IOException {
        for (Map.Entry<String, Process> entry : processes.entrySet()) {
            if (!entry.getValue().isAlive()) {
                throw ended(entry.getKey());
            }
        }
    }

    @Override
    public void close() {
        processes.values().forEach(Process::destroy);
        try {
            for (Process process : processes.values()) {
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            }
        } catch (InterruptedException e) {
            processes.values().forEach(Process::destroyForcibly);
            Thread.currentThread().interrupt();
        }
    }
}
