// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Fake;
import java.util.concurrent.locks.ReentrantLock;

/** Facades of {@link Fake} objects. */
final class FakeFacade {
    private FakeFacade() {}

    static RpmaConn conn() {
        RpmaConn conn = new RpmaConn(null, null, null);
        conn.made("made", Fake.HANDLE, 0, 0);
        return conn;
    }

    /** Without a native object there is nothing to delete. */
    static void close(RpmaConn conn) {
        conn.object().markClosed();
        conn.object().leaveParents();
    }

    static RpmaConnReq request() {
        RpmaConnReq request = new RpmaConnReq(null, null, new ReentrantLock());
        request.object().made("made", Fake.HANDLE);
        return request;
    }
}
