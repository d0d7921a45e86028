// SPDX-License-Identifier: BSD-3-Clause
/**
 * Requests and answers of any size over RDMA connections.
 *
 * <pre>{@code
 * try (Channels channels = Channels.create(RpmaDevice.local("10.0.0.1"), new ChannelOptions())) {
 *     channels.listen("10.0.0.1", 7000, () -> (request, answer) -> answer.send(Message.of(reverse(request))));
 *     ...
 * }
 *
 * try (Channels channels = Channels.create(RpmaDevice.remote("10.0.0.1"), new ChannelOptions());
 *         Channel channel = channels.connect("10.0.0.1", 7000)) {
 *     String answer = channel.request(Message.of(bytes), UTF_8::decode, 3, SECONDS).get().toString();
 * }
 * }</pre>
 *
 * <p>One thread serves all channels of a {@link io.rpma.channel.Channels}. A small message is copied into a registered
 * buffer and sent. A large message is copied into a registered region of the channel; the receiver reads it by RDMA.
 * Nothing needs immediate data, so that the channels run on iWARP too.
 *
 * <p><b>Order.</b> The other side gets the requests of a connection in the order of the calls of
 * {@link io.rpma.channel.Channel#request}, and the answers arrive in the order in which they were given.
 *
 * <p><b>Trust.</b> The other side can't crash this one, and what this side keeps for a connection is limited by
 * {@link io.rpma.channel.ChannelOptions}. A violation of the protocol ends the connection. There is no encryption and
 * no authentication: whoever reaches the port can send requests.
 */
package io.rpma.channel;
