// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.io.IOException;

/** Thrown if a request has no answer. */
public class ChannelException extends IOException {
    private static final long serialVersionUID = 1;

    ChannelException(String message) {
        super(message);
    }

    ChannelException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The other side has refused the request, with its reason as the message. The connection remains. */
    public static final class RefusedException extends ChannelException {
        private static final long serialVersionUID = 1;

        RefusedException(String reason) {
            super(reason);
        }
    }

    /** There was no answer in time. The other side may still carry out the request. */
    public static final class TimeoutException extends ChannelException {
        private static final long serialVersionUID = 1;

        TimeoutException(String message) {
            super(message);
        }
    }

    /**
     * There is no connection, or it has ended. If it has ended after the request, the other side may have carried out
     * the request.
     */
    public static final class LostException extends ChannelException {
        private static final long serialVersionUID = 1;

        LostException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
