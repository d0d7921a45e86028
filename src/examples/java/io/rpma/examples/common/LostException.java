package io.rpma.examples.common;

import java.io.IOException;

/** The other side is gone, or the connection to it: connecting again may help, which no other failure does. */
public final class LostException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Makes one.
     *
     * @param side what is lost
     * @param reason why
     */
    public LostException(Object side, String reason) {
        super(side + ": " + reason);
    }
}
