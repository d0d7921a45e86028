// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaWcStatus;
import io.rpma.examples.common.LostException;
import io.rpma.tools.common.Connector;
import java.io.IOException;

/** The client's side of one connection, on which a load runs. */
interface PerfEnd extends AutoCloseable {
    /**
     * Returns whether the send queue has room for this number of operations. It can lack room although all operations are
     * completed by answers, because the completions of the sends can follow.
     */
    boolean hasRoom(int count);

    /** Posts operations. */
    void post(int count);

    /**
     * Takes completions.
     *
     * @return the number of completed operations, which complete in the order of the posts; 0 if none is complete
     */
    int take() throws IOException, InterruptedException;

    /**
     * Checks the connection while operations are under way.
     *
     * @throws IOException if the other side has ended the connection
     */
    void checkConnected() throws IOException, InterruptedException;

    /** Returns an exception which reports that no operation has completed for some time. */
    IOException silent(long nanos);

    /**
     * Returns the failure of a completion: the loss of the connection.
     *
     * @throws UnsupportedOperationException if a device does not carry out the operation
     */
    static LostException failure(Connector connector, RpmaCompletions completions, int i) {
        RpmaWcStatus status = completions.status(i);
        String reason = status + " (" + status.description() + ")";
        switch (status) {
            case LOC_QP_OP_ERR, REM_INV_REQ_ERR, REM_OP_ERR, REM_INV_RD_REQ_ERR ->
                throw new UnsupportedOperationException("a device does not carry it out: " + reason);
            default -> {
                return new LostException(connector, "the connection is lost: " + reason);
            }
        }
    }

    @Override
    void close();
}
