// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.rxe;

import io.rpma.support.Product;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/** Runs {@code native/rxe}, which is in the jar. The script gets all arguments and signals. */
@Command(
        name = "rxe",
        description = "Run a command with an RDMA device, in a guest if this machine has none.",
        preprocessor = Rxe.Arguments.class)
public final class Rxe implements Callable<Integer> {
    /** The environment variable with the name of the script in its messages. */
    private static final String SCRIPT_NAME = "RPMA_RXE_NAME";

    private final List<String> arguments = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        // fails if the locale lacks letters, which the script would get as question marks
        arguments.forEach(Path::of);
        Path script = Scripts.ofThisJar().unpack(Scripts.cache(System.getenv()));
        List<String> words = new ArrayList<>(List.of(script.toString()));
        words.addAll(arguments);
        return run(new ProcessBuilder(words));
    }

    private static int run(ProcessBuilder builder)
            throws IOException, InterruptedException, ReflectiveOperationException {
        builder.environment().put(SCRIPT_NAME, Product.NAME + " rxe");
        Process process = builder.inheritIO().start();
        // Another signal than SIGINT ends this JVM: first the script ends, and removes its guest.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(process)));
        ignoreInterrupt();
        return process.waitFor();
    }

    private static void end(Process process) {
        process.destroy();
        process.onExit().join();
        Runtime.getRuntime().halt(process.exitValue());
    }

    /**
     * Leaves Ctrl-C to the script, which gets SIGINT too and decides whether it ends. The JDK has no supported class
     * for signals, and the compiler warns about this one.
     */
    private static void ignoreInterrupt() throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        signal.getMethod("handle", signal, handler)
                .invoke(
                        null,
                        signal.getConstructor(String.class).newInstance("INT"),
                        handler.getField("SIG_IGN").get(null));
    }

    /** Takes all arguments unparsed, because options such as {@code --help} are for the script. */
    static final class Arguments implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec argument, Map<String, Object> information) {
            Rxe rxe = (Rxe) command.userObject();
            while (!arguments.isEmpty()) {
                rxe.arguments.add(arguments.pop());
            }
            return true;
        }
    }
}
