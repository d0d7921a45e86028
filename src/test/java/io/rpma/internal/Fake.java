package io.rpma.internal;

/** Creates objects, most without a native object: native methods report these as closed. */
public final class Fake {
    /** The handle of no native object. */
    public static final long HANDLE = Long.MAX_VALUE;

    private static final Object FACADE = new Object();

    private Fake() {}

    /** Returns an object whose native object is being made. */
    static NativeObject begun(String type, NativeObject... parents) {
        NativeObject object = new NativeObject(FACADE, type, parents);
        object.begin();
        return object;
    }

    public static NativeObject object(String type, NativeObject... parents) {
        return object(type, HANDLE, parents);
    }

    /** Returns an object with a handle, which can belong to another kind of native object. */
    public static NativeObject object(String type, long handle, NativeObject... parents) {
        NativeObject object = begun(type, parents);
        object.made("made", handle);
        return object;
    }

    /** Returns an object with a native object but no descriptor, so that a poller can't watch it. */
    public static NativeObject unwatchable(String type) {
        Loader.ensureLoaded();
        return object(type, Natives.connCfgNew());
    }
}
