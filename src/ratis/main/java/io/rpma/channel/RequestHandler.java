// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/** Answers the requests of another side. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Handles a request. The thread of the {@link Channels} calls this, so it must not block: it takes what it needs
     * out of the request, and may let another thread answer. It does so with an answer that does not fit into a buffer,
     * because the memory for such an answer may have to be registered.
     *
     * @param request the bytes of the request, valid until this method returns
     * @param answer gets the answer
     * @throws Exception if the request is refused; the other side gets the message of the exception
     */
    void handle(ByteBuffer request, Answer answer) throws Exception;

    /**
     * Handles the end of the connection, once, after its last request. The thread of the {@link Channels} calls this,
     * so it must not block. By default does nothing.
     *
     * @param reason the reason of the end; also a close of this side
     */
    default void lost(ChannelException reason) {
        // an answer to the other side is dropped
    }

    /** Takes the answer to a request, once, from any thread. If the other side is gone, the answer is dropped. */
    interface Answer {
        /**
         * Answers the request. The bytes are copied before this method returns.
         *
         * @param message the answer
         * @throws IllegalStateException if the request is already answered
         */
        void send(Message message);

        /**
         * Refuses the request.
         *
         * @param reason the reason, which the other side gets as a message; at most 1000 characters of it are sent
         * @throws IllegalStateException if the request is already answered
         */
        void refuse(String reason);
    }
}
