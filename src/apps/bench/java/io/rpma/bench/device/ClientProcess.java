// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process that reads commands from its standard input, one per line, and answers each command with a line. */
final class ClientProcess implements AutoCloseable {
    private static final String READY = "ok";
    private static final int END_S = 20;

    private final String name;
    private final Process process;
    private final Writer input;
    private final BufferedReader output;

    private ClientProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        input = process.outputWriter(StandardCharsets.UTF_8);
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Starts a process and waits until it is ready.
     *
     * @param name the name of the process in messages
     * @throws IOException if the process ends, or its first line is not {@code ok}; its error output goes to the error
     *     output of this process
     */
    static ClientProcess start(String name, List<String> command) throws IOException {
        ClientProcess process = new ClientProcess(
                name,
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
        String answer = process.output.readLine();
        if (!READY.equals(answer)) {
            process.process.destroyForcibly();
            throw new IOException(answer == null ? name + " has ended, see above" : name + " says: " + answer);
        }
        return process;
    }

    /**
     * Sends a command and waits for the answer.
     *
     * @return the numbers of the answer
     * @throws IOException if the process has ended, or the answer contains something else than numbers
     */
    long[] run(String command) throws IOException {
        String answer;
        try {
            input.write(command + "\n");
            input.flush();
            answer = output.readLine();
        } catch (IOException e) {
            throw new IOException(name + " has ended, see above, before: " + command, e);
        }
        if (answer == null) {
            throw new IOException(name + " has ended, see above, at: " + command);
        }
        return numbers(name, answer);
    }

    /** Parses the numbers of a line. */
    static long[] numbers(String name, String line) throws IOException {
        try {
            return Stream.of(line.split(" ")).mapToLong(Long::parseLong).toArray();
        } catch (NumberFormatException e) {
            throw new IOException(name + " answers no numbers: " + line, e);
        }
    }

    /** Closes the input of the process, which then ends. Kills the process if it does not end. */
    @Override
    public void close() throws IOException {
        try {
            input.close();
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                throw new IOException(name + " has not ended within " + END_S + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
