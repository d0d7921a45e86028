// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;

/** Thrown if the other side or the connection to it is lost: the only failure after which a new connection can help. */
public class LostException extends IOException {
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

    /** Makes an exception from one that has this meaning, and names the side. */
    public LostException(IOException loss) {
        super(loss.getMessage(), loss);
    }
}
