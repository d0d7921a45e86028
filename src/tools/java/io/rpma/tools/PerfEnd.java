// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import java.io.IOException;

/** The client's side of one connection, on which a load runs. */
interface PerfEnd extends AutoCloseable {
    /** Returns whether the send queue has room for this number of operations. */
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

    @Override
    void close();
}
