// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaDevice;
import io.rpma.channel.Channel;
import io.rpma.channel.ChannelException;
import io.rpma.channel.ChannelException.RefusedException;
import io.rpma.channel.ChannelOptions;
import io.rpma.channel.Channels;
import io.rpma.channel.Message;
import io.rpma.support.BackOff;
import io.rpma.support.LostException;
import io.rpma.support.Output;
import io.rpma.support.Program;
import io.rpma.support.Progress;
import io.rpma.support.RemoteConnection;
import io.rpma.support.Size;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sends a file or the standard input. */
@Command(
        name = "client",
        description = {"Sends bytes to the server. Waits until the server listens.", ""})
final class Client extends Stream.Side {
    private final Output output = Output.toStandardOutput("client");
    private BackOff backOff;

    @Option(
            names = "--block",
            converter = Size.class,
            defaultValue = "64k",
            paramLabel = "BYTES",
            description = "Maximum number of bytes that are read and sent at once, 1 to 16M; default ${DEFAULT-VALUE}.")
    private Long block;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ChannelOptions options = checkedOptions();
        Program.check(command, "--block", block >= 1 && block <= Stream.MOST_BLOCK, "must be 1 to 16M");
        backOff = new BackOff(timeout.seconds());
        try (InputStream source = file == null ? new FileInputStream(FileDescriptor.in) : Files.newInputStream(file)) {
            RpmaDevice device = untilReached(() -> RemoteConnection.findDevice(endpoint.address(), endpoint.port()));
            try (Channels channels = Channels.create(device, options)) {
                Channel channel = channels.connect(endpoint.address(), endpoint.port());
                untilReached(() -> greet(channel));
                output.say("connected", "to " + channel);
                try {
                    send(source, channel);
                } finally {
                    channel.abort(); // after a failure, a wait for further answers has no use
                }
            }
        }
        return 0;
    }

    private <T> T untilReached(BackOff.Attempt<T> attempt) throws IOException, InterruptedException {
        return backOff.retry("no server has answered", output::say, attempt);
    }

    private Void greet(Channel channel) throws IOException, InterruptedException {
        try {
            return result(request(channel, ByteBuffer.allocate(0), backOff.left()));
        } catch (RefusedException e) {
            throw e;
        } catch (ChannelException e) {
            // The reason of the last attempt, without the time of the channel's next one.
            throw new LostException(e.getCause() instanceof ChannelException attempt ? attempt : e);
        }
    }

    private void send(InputStream source, Channel channel) throws IOException, InterruptedException {
        long start = System.nanoTime();
        ByteBuffer message = ByteBuffer.allocate(Long.BYTES + block.intValue());
        Queue<Future<Void>> unanswered = new ArrayDeque<>();
        long sent = 0;
        try (Progress progress = output.progress("sending", file == null ? Progress.UNKNOWN : Files.size(file))) {
            boolean ended = false;
            while (!ended) {
                int read = source.read(message.array(), Long.BYTES, block.intValue());
                ended = read < 0;
                int length = Math.max(0, read);
                message.putLong(0, sent).limit(Long.BYTES + length);
                if (!channel.isConnected()) {
                    throw new LostException(channel, "the connection has ended"); // a request would connect again
                }
                // Waits while the server is slower, for as long as its host is alive.
                unanswered.add(request(channel, message, Long.MAX_VALUE));
                while (!unanswered.isEmpty() && (ended || unanswered.element().isDone())) {
                    result(unanswered.remove());
                }
                sent += length;
                progress.update(sent);
            }
        }
        output.say("sent", Size.exact(sent));
        output.say("rate", Size.rate(sent, System.nanoTime() - start) + ", in blocks of " + Size.format(block));
    }

    private static Future<Void> request(Channel channel, ByteBuffer message, long nanos) throws InterruptedException {
        return channel.request(Message.of(message), answer -> null, nanos, NANOSECONDS);
    }

    private static Void result(Future<Void> answer) throws IOException, InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ChannelException failure) {
                throw failure;
            }
            throw new IOException(e.getCause());
        }
    }
}
