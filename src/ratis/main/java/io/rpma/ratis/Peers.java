// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.channel.Channel;
import io.rpma.channel.ChannelException.TimeoutException;
import io.rpma.channel.Channels;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.NetUtils;
import org.apache.ratis.util.PeerProxyMap;

/** The channels to the servers of a group. */
final class Peers extends PeerProxyMap<Peers.Peer> {
    private final Source source;

    /** The channels of a server or a client, of one device, made when the first one is needed. */
    static final class Source implements Closeable {
        private final RaftProperties properties;
        private final Function<String, RpmaDevice> devices;
        private Channels channels;
        private boolean closed;

        /**
         * Makes a source.
         *
         * @param devices finds the device that reaches an address
         */
        Source(RaftProperties properties, Function<String, RpmaDevice> devices) {
            this.properties = properties;
            this.devices = devices;
        }

        synchronized Channels get(String address) throws IOException {
            if (closed) {
                throw new IOException("closed");
            }
            if (channels == null) {
                try {
                    channels = Channels.create(devices.apply(address), RpmaConfigKeys.options(properties));
                } catch (RpmaException e) {
                    throw new IOException(e.getMessage(), e);
                }
            }
            return channels;
        }

        @Override
        public synchronized void close() {
            closed = true;
            if (channels != null) {
                channels.close();
            }
        }
    }

    /** A channel to a server. */
    static final class Peer implements Closeable {
        private final RaftPeer peer;
        private final Channel channel;
        private final long timeoutMs;

        private Peer(RaftPeer peer, Source source, long timeoutMs) throws IOException {
            this.peer = peer;
            this.timeoutMs = timeoutMs;
            InetSocketAddress address = NetUtils.createSocketAddr(peer.getAddress());
            if (address.isUnresolved()) {
                throw new IOException("unknown host: " + peer);
            }
            String host = address.getAddress().getHostAddress();
            try {
                channel = source.get(host).connect(host, address.getPort());
            } catch (IllegalStateException | IllegalArgumentException e) {
                throw new IOException(e.getMessage(), e); // closed meanwhile, or no port
            }
        }

        /**
         * Calls the server.
         *
         * @param addedMs is added to the timeout of requests
         */
        <T> CompletableFuture<T> send(Call call, MessageLite request, Parser<T> replies, long addedMs)
                throws IOException {
            try {
                return channel.request(
                        Wire.message(call.ordinal(), request),
                        bytes -> Wire.parseAnswer(bytes, replies),
                        timeoutMs + addedMs,
                        TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw IOUtils.toInterruptedIOException("interrupted: " + call + " to " + peer, e);
            } catch (IllegalStateException e) {
                throw new IOException(e.getMessage(), e); // closed meanwhile
            }
        }

        @Override
        public void close() {
            channel.abort();
        }

        @Override
        public String toString() {
            return peer.toString();
        }
    }

    Peers(String name, RaftProperties properties, Source source) {
        this(name, RaftClientConfigKeys.Rpc.requestTimeout(properties).toLong(TimeUnit.MILLISECONDS), source);
    }

    private Peers(String name, long timeoutMs, Source source) {
        super(name, peer -> new Peer(peer, source, timeoutMs));
        this.source = source;
    }

    /** Waits for a reply. */
    static <T> T await(CompletableFuture<T> reply) throws IOException {
        try {
            return reply.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IOUtils.toInterruptedIOException("interrupted while waiting for a reply", e);
        } catch (ExecutionException e) {
            throw toIOException(e.getCause());
        }
    }

    /** Returns the exception as Ratis knows it. */
    static IOException toIOException(Throwable thrown) {
        if (thrown instanceof CompletionException && thrown.getCause() != null) {
            return toIOException(thrown.getCause());
        }
        if (thrown instanceof TimeoutException) {
            return new TimeoutIOException(thrown.getMessage(), thrown);
        }
        return IOUtils.asIOException(thrown);
    }

    @Override
    public void close() {
        super.close();
        IOUtils.cleanup(null, source);
    }
}
