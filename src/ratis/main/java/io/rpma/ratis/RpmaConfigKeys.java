// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.ratis;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.channel.ChannelOptions;
import java.util.function.Consumer;
import org.apache.ratis.conf.ConfUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The properties {@code raft.rpma.*}, with their defaults. */
public interface RpmaConfigKeys {
    /** The start of the names. */
    String PREFIX = "raft.rpma";

    /** Where a server listens. */
    interface Server {
        /** The start of the names. */
        String PREFIX = RpmaConfigKeys.PREFIX + ".server";

        /** An address of the RDMA device, or a host name; by default the address of the first active device. */
        String HOST_KEY = PREFIX + ".host";

        /** See {@link #HOST_KEY}. */
        String HOST_DEFAULT = null;

        /** The port, 1 to 65535. It must be set. */
        String PORT_KEY = PREFIX + ".port";

        /** No port. */
        int PORT_DEFAULT = 0;

        /**
         * Gets {@link #HOST_KEY}.
         *
         * @param properties the properties
         * @return the value, or null
         */
        static String host(RaftProperties properties) {
            return ConfUtils.get(properties::get, HOST_KEY, HOST_DEFAULT, log());
        }

        /**
         * Sets {@link #HOST_KEY}.
         *
         * @param properties the properties
         * @param host the value
         */
        static void setHost(RaftProperties properties, String host) {
            ConfUtils.set(properties::set, HOST_KEY, host);
        }

        /**
         * Gets {@link #PORT_KEY}.
         *
         * @param properties the properties
         * @return the value
         */
        static int port(RaftProperties properties) {
            return ConfUtils.getInt(
                    properties::getInt,
                    PORT_KEY,
                    PORT_DEFAULT,
                    log(),
                    ConfUtils.requireMin(0),
                    ConfUtils.requireMax(65535));
        }

        /**
         * Sets {@link #PORT_KEY}.
         *
         * @param properties the properties
         * @param port the value
         */
        static void setPort(RaftProperties properties, int port) {
            ConfUtils.setInt(properties::setInt, PORT_KEY, port);
        }
    }

    /** The size of the buffers of small messages: see {@link ChannelOptions#setBufferSize}. */
    String BUFFER_SIZE_KEY = PREFIX + ".buffer.size";

    /** 8 KiB. */
    SizeInBytes BUFFER_SIZE_DEFAULT = SizeInBytes.valueOf("8KB");

    /** The maximum size of a message, as {@code raft.grpc.message.size.max}. */
    String MESSAGE_SIZE_MAX_KEY = PREFIX + ".message.size.max";

    /** 64 MiB. */
    SizeInBytes MESSAGE_SIZE_MAX_DEFAULT = SizeInBytes.valueOf("64MB");

    /** The maximum number of unanswered requests of a connection. */
    String OUTSTANDING_REQUESTS_MAX_KEY = PREFIX + ".outstanding-requests.max";

    /** 64. */
    int OUTSTANDING_REQUESTS_MAX_DEFAULT = 64;

    /** The maximum number of connections to a server. */
    String CONNECTIONS_MAX_KEY = PREFIX + ".connections.max";

    /** 1000. */
    int CONNECTIONS_MAX_DEFAULT = 1000;

    /** The maximum time of an attempt to connect. */
    String CONNECT_TIMEOUT_KEY = PREFIX + ".connect.timeout";

    /** 3 s. */
    TimeDuration CONNECT_TIMEOUT_DEFAULT = TimeDuration.valueOf(3, SECONDS);

    /** The time after which a host that does not answer counts as dead: see {@link ChannelOptions#setSilence}. */
    String SILENCE_KEY = PREFIX + ".silence";

    /** 5 s. */
    TimeDuration SILENCE_DEFAULT = TimeDuration.valueOf(5, SECONDS);

    /**
     * Makes the options of the channels.
     *
     * @param properties the properties
     * @return the options
     */
    static ChannelOptions options(RaftProperties properties) {
        int messageSize = size(properties, MESSAGE_SIZE_MAX_KEY, MESSAGE_SIZE_MAX_DEFAULT);
        return new ChannelOptions()
                .setBufferSize(size(properties, BUFFER_SIZE_KEY, BUFFER_SIZE_DEFAULT))
                .setMessageSize(messageSize)
                .setUnanswered(
                        count(properties, OUTSTANDING_REQUESTS_MAX_KEY, OUTSTANDING_REQUESTS_MAX_DEFAULT), messageSize)
                .setConnections(count(properties, CONNECTIONS_MAX_KEY, CONNECTIONS_MAX_DEFAULT))
                // An election does not wait for a server that is back.
                .setPauses(10, 100, MILLISECONDS)
                .setConnectTimeout(millis(properties, CONNECT_TIMEOUT_KEY, CONNECT_TIMEOUT_DEFAULT), MILLISECONDS)
                .setSilence(millis(properties, SILENCE_KEY, SILENCE_DEFAULT), MILLISECONDS);
    }

    private static int size(RaftProperties properties, String key, SizeInBytes byDefault) {
        return ConfUtils.getSizeInBytes(properties::getSizeInBytes, key, byDefault, log())
                .getSizeInt();
    }

    private static int count(RaftProperties properties, String key, int byDefault) {
        return ConfUtils.getInt(properties::getInt, key, byDefault, log(), ConfUtils.requireMin(1));
    }

    private static long millis(RaftProperties properties, String key, TimeDuration byDefault) {
        return ConfUtils.getTimeDuration(
                        properties.getTimeDuration(byDefault.getUnit()),
                        key,
                        byDefault,
                        log(),
                        ConfUtils.requirePositive())
                .toLong(MILLISECONDS);
    }

    private static Consumer<String> log() {
        Logger logger = LoggerFactory.getLogger(RpmaConfigKeys.class);
        return logger::debug;
    }
}
