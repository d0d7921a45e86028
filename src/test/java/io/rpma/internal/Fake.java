// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;

/** Creates objects, most without a native object: native methods report these as closed. */
public final class Fake {
    /** The handle of no native object. */
    public static final long HANDLE = Long.MAX_VALUE;

    private static final Object FACADE = new Object();

    private Fake() {}

    /** Returns an object that is not yet made. */
    static Resource unmade(String type, Resource... parents) {
        return new Resource(FACADE, type, new FakeKind(), parents);
    }

    /** Returns an object whose native object is being made. */
    static Resource begun(String type, Resource... parents) {
        Resource object = unmade(type, parents);
        object.begin();
        return object;
    }

    public static Resource object(String type, Resource... parents) {
        return object(type, HANDLE, parents);
    }

    /** Returns an object with a handle, which can belong to another kind of native object. */
    public static Resource object(String type, long handle, Resource... parents) {
        Resource object = begun(type, parents);
        object.made("made", handle);
        return object;
    }

    /**
     * Closes an object.
     *
     * @param operation the C function
     * @param delete takes the handle and returns the result of the native method
     */
    public static boolean close(Resource object, String operation, LongUnaryOperator delete) {
        setCloser(object, operation, delete);
        return object.close();
    }

    /** Sets the function that frees the native object of a fake. */
    static void setCloser(Resource object, String operation, LongUnaryOperator delete) {
        FakeKind closer = (FakeKind) object.kind;
        closer.operation = operation;
        closer.delete = delete;
    }

    /** Makes the mark of a fake fail once, in a close of many objects. */
    static void failMark(Resource object, Error failure) {
        FakeKind closer = (FakeKind) object.kind;
        closer.failure = failure;
        closer.locksBeforeFailure = 1;
    }

    private static final class FakeKind extends ObjectKind {
        private Error failure;

        /** The check of the children locks before the mark does. */
        private int locksBeforeFailure;

        private String operation = "deleted";
        private LongUnaryOperator delete = handle -> 0;

        FakeKind() {
            super("");
        }

        @Override
        String operation() {
            return operation;
        }

        @Override
        void lock() {
            if (failure == null || locksBeforeFailure-- > 0) {
                return;
            }
            Error thrown = failure;
            failure = null;
            throw thrown;
        }

        @Override
        protected long delete(Resource object) {
            return delete.applyAsLong(object.handle());
        }
    }

    /** Returns an object with a native object but no descriptor, so that a poller can't watch it. */
    public static Resource unwatchable(String type) {
        Loader.ensureLoaded();
        return object(type, Natives.connCfgNew());
    }

    /** Reads the description of a device DAX from a directory that has none. */
    public static DaxDevice daxDevice(Path sysfs) throws IOException {
        return new DaxDevice(sysfs, sysfs);
    }
}
