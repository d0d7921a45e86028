package io.rpma.examples.common;

import java.io.IOException;

/** The other side or the connection to it is lost. A new connection can help only after this failure. */
public final class LostException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Makes an exception.
     *
     * @param side the lost side
     * @param reason the reason of the loss
     */
    public LostException(Object side, String reason) {
        super(side + ": " + reason);
    }
}
