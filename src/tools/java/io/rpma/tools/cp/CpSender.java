// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.examples.common.BackOff;
import io.rpma.examples.common.Errors;
import io.rpma.examples.common.LostException;
import io.rpma.examples.common.Output;
import io.rpma.examples.common.Program;
import io.rpma.examples.common.Progress;
import io.rpma.examples.common.Sha256;
import io.rpma.examples.common.Size;
import io.rpma.examples.common.SourceFile;
import io.rpma.tools.common.Connector;
import java.io.IOException;
import java.nio.file.Path;

/** Sends a file. Connects again after the loss of the receiver, and continues. */
final class CpSender {
    /** Much less than the time for which the receiver waits for the first message of a connection. */
    static final long PATIENCE = SECONDS.toNanos(20);

    /** Half of the time after which the receiver gives up a silent sender. */
    static final long SILENCE = SECONDS.toNanos(CpReceiver.SILENCE_S) / 2;

    private final Connector connector;
    private final Path path;
    private final String target;
    private final int timeout;
    private final long patience;
    private final long silence;
    private final BackOff backOff;
    private boolean connected;
    private final Output output = Output.toStandardOutput("cp");

    /**
     * Sets up a copy.
     *
     * @param target the path of the copy in the directory of the receiver
     * @param timeout the longest time without progress, in seconds
     * @param patience the longest time for which a connection is open while the file is read for its SHA-256, in nanoseconds
     * @param silence the time without a block after which the receiver gets a sign while the file is read, in nanoseconds
     */
    CpSender(Connector connector, Path path, String target, int timeout, long patience, long silence) {
        this.connector = connector;
        this.path = path;
        this.target = target;
        this.timeout = timeout;
        this.patience = patience;
        this.silence = silence;
        backOff = new BackOff(timeout);
    }

    /** Thrown if the receiver can't make the copy, or the other side is no receiver. */
    static final class FailedException extends IOException {
        private static final long serialVersionUID = 1;

        FailedException(String message) {
            super(message);
        }
    }

    /**
     * Copies the file.
     *
     * @throws IOException if the file can't be copied
     */
    void send() throws IOException, InterruptedException {
        if (!CpMessage.fits(target)) {
            throw new IOException("the path of the copy is too long");
        }
        try (SourceFile file = SourceFile.open(path)) {
            byte[] digest;
            long begin;
            CpTally tally;
            try (RpmaPeer peer = RpmaPeer.create(connector.device());
                    RpmaMemory memory = RpmaMemory.allocate(CpConnection.MEMORY);
                    RpmaMrLocal region =
                            peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.SEND, RpmaMrUsage.RECV)) {
                // a wrong address or port must not be noticed only after the file is read
                try (Contact contact = new Contact(connect(peer, memory, region))) {
                    digest = digest(file, contact);
                    begin = System.nanoTime();
                    CpMessage.Request request = new CpMessage.Request(file.size(), digest, target);
                    tally = new CpTally(file.size());
                    boolean complete = false;
                    while (!complete) {
                        try (CpConnection connection =
                                contact.isOpen() ? contact.take() : connect(peer, memory, region)) {
                            send(connection, file, request, tally);
                            complete = true;
                        } catch (LostException e) {
                            output.say("lost: " + Errors.line(e));
                            backOff.pause("no progress", e);
                        }
                    }
                }
            }
            long nanos = System.nanoTime() - begin;
            output.say(tally.isUnsent() ? "complete" : "copied", tally.text(nanos));
            Program.print(System.out, String.format("%-9s %-12s %s", "cp:", "SHA-256", Sha256.format(digest)));
        }
    }

    private byte[] digest(SourceFile file, Contact contact) throws IOException {
        try (Progress progress = output.progress("reading", file.size())) {
            return file.sha256(done -> {
                progress.update(done);
                contact.closeIfLate();
            });
        }
    }

    /** The first connection, while the file is read. */
    private final class Contact implements AutoCloseable {
        private final long begin = System.nanoTime();
        private CpConnection connection;

        Contact(CpConnection connection) {
            this.connection = connection;
        }

        boolean isOpen() {
            return connection != null;
        }

        CpConnection take() {
            CpConnection taken = connection;
            connection = null;
            return taken;
        }

        /** Ends a connection that would keep others from the receiver, which also closes it when it is silent for long. */
        void closeIfLate() {
            if (System.nanoTime() - begin > patience) {
                close();
            }
        }

        @Override
        public void close() {
            if (connection != null) {
                take().close();
            }
        }
    }

    /** A first connection that fails is not repeated, because its address or port can be wrong. */
    private CpConnection connect(RpmaPeer peer, RpmaMemory memory, RpmaMrLocal region)
            throws IOException, InterruptedException {
        BackOff.Attempt<CpConnection> attempt =
                () -> CpConnection.open(peer, connector, memory, region, backOff.left(), silence);
        CpConnection connection = connected ? backOff.retry("no connection", output::say, attempt) : first(attempt);
        connected = true;
        return connection;
    }

    private static CpConnection first(BackOff.Attempt<CpConnection> attempt) throws IOException, InterruptedException {
        try {
            return attempt.make();
        } catch (LostException e) {
            throw new IOException(Errors.line(e), e);
        }
    }

    /** Sends the bytes that the receiver does not have. */
    private void send(CpConnection connection, SourceFile file, CpMessage.Request request, CpTally tally)
            throws IOException, InterruptedException {
        try {
            CpMessage.Answer answer = connection.request(request, SECONDS.toNanos(timeout));
            if (answer.kind() == CpMessage.Kind.COMPLETE) {
                tally.complete();
                return;
            }
            long begin = answer.position();
            tally.begin(begin);
            // at the end there is nothing to continue: the receiver only has to verify the copy
            if (begin > 0 && begin < file.size()) {
                output.say("continues", "at " + Size.exact(begin));
            }
            try (Progress progress = output.progress("sending", file.size(), begin)) {
                connection.send(file, begin, SECONDS.toNanos(timeout), new CpConnection.Progress() {
                    @Override
                    public void posted(long position) {
                        tally.posted(position);
                    }

                    @Override
                    public void written(long position) {
                        backOff.succeeded();
                        tally.written(position);
                        progress.update(position);
                    }
                });
            }
        } catch (FailedException e) {
            file.checkUnchanged();
            throw new IOException(connector + ", " + target + ": " + Errors.line(e), e);
        } catch (RpmaException e) {
            throw new LostException(connector, Errors.line(e));
        }
    }
}
