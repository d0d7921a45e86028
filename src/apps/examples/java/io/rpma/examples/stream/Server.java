// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaDevice;
import io.rpma.channel.ChannelException;
import io.rpma.channel.ChannelOptions;
import io.rpma.channel.Channels;
import io.rpma.channel.Message;
import io.rpma.channel.RequestHandler;
import io.rpma.support.Errors;
import io.rpma.support.Output;
import io.rpma.support.Progress;
import io.rpma.support.Size;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import picocli.CommandLine.Command;

/** Writes the bytes of one client into a file or to the standard output. */
@Command(
        name = "server",
        description = {"Receives the bytes of one client. Ends when the client has sent all bytes.", ""})
final class Server extends Stream.Side {
    /** The thread of the channels must not block, so another one writes. The limits of the channels bound the queue. */
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();

    /** A request, or, without bytes and answer, the loss of the client. */
    private record Request(ByteBuffer bytes, RequestHandler.Answer answer, ChannelException loss) {
        /**
         * Writes the block.
         *
         * @param position the number of bytes that are written
         * @return the number of bytes of the block
         */
        int writeTo(OutputStream target, long position) throws IOException {
            if (loss != null) {
                throw loss;
            }
            if (bytes.limit() == 0) {
                return 0; // the first request
            }
            if (bytes.limit() < Long.BYTES || bytes.getLong() != position) {
                throw new IOException("the client has not sent the bytes at position " + position);
            }
            target.write(bytes.array(), bytes.position(), bytes.remaining());
            return bytes.remaining();
        }

        boolean isEnd() {
            return bytes.limit() == Long.BYTES;
        }

        void acknowledge() {
            answer.send(Message.of(new byte[0]));
        }

        void refuse(IOException reason) {
            if (answer != null) {
                answer.refuse("the server has failed: " + Errors.line(reason));
            }
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        ChannelOptions options = checkedOptions().setConnections(1);
        // Messages on the standard output would be among the bytes.
        Output output = file == null ? Output.toStandardError("server") : Output.toStandardOutput("server");
        try (Channels channels = Channels.create(RpmaDevice.local(endpoint.address()), options)) {
            channels.listen(endpoint.address(), endpoint.port(), this::handler);
            output.say(
                    "listening", endpoint.address() + " port " + endpoint.port() + ", for " + timeout.seconds() + " s");
            Request first = requests.poll(timeout.seconds(), SECONDS);
            if (first == null) {
                throw new IOException("no client has connected within " + timeout.seconds() + " s (--timeout)");
            }
            output.say("a client has connected");
            long start = System.nanoTime();
            long received = receive(first, output);
            output.say("received", Size.exact(received));
            output.say("rate", Size.rate(received, System.nanoTime() - start));
        }
        return 0;
    }

    private RequestHandler handler() {
        return new RequestHandler() {
            private boolean asked;

            @Override
            public void handle(ByteBuffer request, Answer answer) {
                asked = true;
                ByteBuffer copy = ByteBuffer.allocate(request.remaining()).put(request);
                requests.add(new Request(copy.flip(), answer, null));
            }

            @Override
            public void lost(ChannelException reason) {
                // A client that has not asked is still trying to connect.
                if (asked) {
                    requests.add(new Request(null, null, reason));
                }
            }
        };
    }

    private long receive(Request first, Output output) throws IOException, InterruptedException {
        Request request = first;
        long received = 0;
        try (OutputStream target = open();
                Progress progress = output.progress("receiving", Progress.UNKNOWN)) {
            received += request.writeTo(target, received);
            while (!request.isEnd()) {
                request.acknowledge();
                request = requests.take();
                received += request.writeTo(target, received);
                progress.update(received);
            }
        } catch (IOException e) {
            request.refuse(e);
            throw e;
        }
        request.acknowledge(); // after the output is closed, which can fail
        return received;
    }

    private OutputStream open() throws IOException {
        return file == null ? new FileOutputStream(FileDescriptor.out) : Files.newOutputStream(file);
    }
}
