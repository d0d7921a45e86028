package io.rpma;

import java.util.concurrent.locks.ReentrantLock;

/** Objects whose native object does not exist: natives report that it is closed. */
final class Fake {
    private static final Object FACADE = new Object();
    private static final long ID = Long.MAX_VALUE;

    private Fake() {}

    /** With a native object that is being made. */
    static Handle begun(String type, Handle... parents) {
        Handle handle = new Handle(FACADE, type, parents);
        handle.begin();
        return handle;
    }

    static Handle handle(String type, Handle... parents) {
        return handle(type, ID, parents);
    }

    /** With a native object of another kind, perhaps. */
    static Handle handle(String type, long id, Handle... parents) {
        Handle handle = begun(type, parents);
        handle.made(id);
        return handle;
    }

    /** A native object that can't be waited for. */
    static Handle unwatchable(String type) {
        Loader.ensureLoaded();
        return handle(type, Natives.connCfgNew());
    }

    static RpmaConn conn() {
        RpmaConn conn = new RpmaConn(null, null);
        conn.made(ID, 0, 0);
        return conn;
    }

    static RpmaConnReq request() {
        RpmaConnReq request = new RpmaConnReq(null, null, new ReentrantLock());
        request.handle().made(ID);
        return request;
    }
}
