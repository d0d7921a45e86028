// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.bench.Bench;
import io.rpma.bench.Language;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The target and its clients. Only one client works at a time. */
final class Clients implements AutoCloseable {
    /**
     * Makes the heap resident from the start, so that the growth of the resident memory is the growth of native memory.
     */
    private static final List<String> HEAP = List.of("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch");

    private final Map<Language, ClientProcess> clients = new EnumMap<>(Language.class);
    private final ClientProcess target;

    private Clients(ClientProcess target) {
        this.target = target;
    }

    /**
     * Starts the target and the clients.
     *
     * @param languages the languages of the clients
     * @param address the address of the device
     * @param port the first of five free ports
     * @param pmem a device DAX, or null
     * @param jvmOptions the options of the clients in Java
     * @param placement the processors of the programs
     */
    static Clients start(
            Collection<Language> languages,
            String address,
            int port,
            Path pmem,
            List<String> jvmOptions,
            Placement placement)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(program("target"), address, Integer.toString(port)));
        if (pmem != null) {
            command.add(pmem.toString());
        }
        Clients all = new Clients(ClientProcess.start("the target", placement.target(command)));
        try {
            List<String> options = new ArrayList<>(HEAP);
            options.addAll(jvmOptions);
            for (Language language : languages) {
                List<String> client = command(language, options, address, Integer.toString(port));
                all.clients.put(
                        language,
                        ClientProcess.start("the client (" + language.title() + ")", placement.client(client)));
            }
        } catch (IOException e) {
            try {
                all.close();
            } catch (IOException failure) {
                e.addSuppressed(failure);
            }
            throw e;
        }
        return all;
    }

    private static List<String> command(Language language, List<String> jvmOptions, String address, String port) {
        String classPath = System.getProperty("java.class.path");
        switch (language) {
            case JAVA:
                return java(jvmOptions, classPath, Client.class, address, port);
            case BARE:
                return java(jvmOptions, classPath, Bare.class, address, port);
            default:
                return List.of(program("client"), address, port);
        }
    }

    /** Returns the path of a program in C, which {@code src/apps/bench/c/build} has built. */
    static String program(String name) {
        return Bench.OUTPUT.resolve(name).toString();
    }

    /** Returns the command line of a program in Java. */
    static List<String> java(List<String> jvmOptions, String classPath, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Sends a command to a client, and returns the numbers of its answer. */
    long[] run(Language language, String command) throws IOException {
        return clients.get(language).run(command);
    }

    /** Ends all processes, even if one of them fails. The target ends last, because the clients are connected to it. */
    @Override
    public void close() throws IOException {
        List<ClientProcess> processes = new ArrayList<>(clients.values());
        processes.add(target);
        IOException failure = null;
        for (ClientProcess process : processes) {
            try {
                process.close();
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
