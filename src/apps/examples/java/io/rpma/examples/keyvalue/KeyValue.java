// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import io.rpma.support.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.server.RaftServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Keeps keys and values on several hosts.
 *
 * <pre>
 * servers=a=10.0.0.1:7300,b=10.0.0.2:7300,c=10.0.0.3:7300
 * java -cp ... io.rpma.examples.keyvalue.KeyValue server --servers $servers --id a --directory /var/lib/a
 * java -cp ... io.rpma.examples.keyvalue.KeyValue put --servers $servers colour green
 * java -cp ... io.rpma.examples.keyvalue.KeyValue get --servers $servers colour
 * </pre>
 */
@Command(
        name = "key-value",
        description = "Keeps keys and values on several hosts, with Apache Ratis over RDMA.",
        synopsisSubcommandLabel = "(server | put | get | demo)",
        subcommands = {KeyValue.ServerCommand.class, KeyValue.PutCommand.class, KeyValue.GetCommand.class, Demo.class})
public final class KeyValue extends Program {
    /** This is a field, because the JDK can collect an unreferenced logger with its level. */
    private static final Logger RATIS = Logger.getLogger("org.apache.ratis");

    KeyValue() {
        RATIS.setLevel(Level.WARNING);
    }

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new KeyValue().run(args));
    }

    /** The servers of the store. */
    static final class Servers {
        @Option(
                names = "--servers",
                required = true,
                paramLabel = "ID=ADDRESS:PORT,...",
                description = "All servers: the id of each, an address of its RDMA device, and its port.")
        private String servers;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec command;

        Group group() {
            try {
                return Group.parse(servers);
            } catch (IllegalArgumentException e) {
                check(command, "--servers", false, "is wrong: " + e.getMessage());
                throw e;
            }
        }
    }

    /** The command line of a server. */
    @Command(name = "server", description = "Runs a server until it is ended, for example by Ctrl-C.")
    static final class ServerCommand implements Callable<Integer> {
        @Mixin
        private Servers servers;

        @Option(names = "--id", required = true, paramLabel = "ID", description = "The id of this server.")
        private String id;

        @Option(
                names = "--directory",
                required = true,
                paramLabel = "DIR",
                description = "For the log of the commands; the server continues with what is there.")
        private Path directory;

        @Override
        public Integer call() throws Exception {
            try (RaftServer server = servers.group().server(id, directory)) {
                server.start();
                System.out.println(
                        "server " + id + " listens at " + server.getPeer().getAddress());
                new CountDownLatch(1).await();
            }
            return 0;
        }
    }

    /** The command line that stores a value. */
    @Command(name = "put", description = "Stores a value.")
    static final class PutCommand implements Callable<Integer> {
        @Mixin
        private Servers servers;

        @Parameters(index = "0", paramLabel = "KEY", description = "The key.")
        private String key;

        @Parameters(index = "1", paramLabel = "VALUE", description = "The value.")
        private String value;

        @Override
        public Integer call() throws IOException {
            try (RaftClient client = servers.group().client()) {
                RaftClientReply reply = client.io().send(Store.put(key, value));
                System.out.println("stored, through the leader " + reply.getServerId());
            }
            return 0;
        }
    }

    /** The command line that shows a value. */
    @Command(name = "get", description = "Shows a value.")
    static final class GetCommand implements Callable<Integer> {
        @Mixin
        private Servers servers;

        @Parameters(index = "0", paramLabel = "KEY", description = "The key.")
        private String key;

        @Override
        public Integer call() throws IOException {
            try (RaftClient client = servers.group().client()) {
                RaftClientReply reply = client.io().sendReadOnly(Store.get(key));
                Program.print(System.out, reply.getMessage().getContent().toStringUtf8());
            }
            return 0;
        }
    }
}
