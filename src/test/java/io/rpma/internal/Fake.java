package io.rpma.internal;

/** Objects whose native object does not exist: natives report that it is closed. */
public final class Fake {
    /** Of no native object. */
    public static final long HANDLE = Long.MAX_VALUE;

    private static final Object FACADE = new Object();

    private Fake() {}

    /** With a native object that is being made. */
    static NativeObject begun(String type, NativeObject... parents) {
        NativeObject object = new NativeObject(FACADE, type, parents);
        object.begin();
        return object;
    }

    public static NativeObject object(String type, NativeObject... parents) {
        return object(type, HANDLE, parents);
    }

    /** With a native object of another kind, perhaps. */
    public static NativeObject object(String type, long handle, NativeObject... parents) {
        NativeObject object = begun(type, parents);
        object.made("made", handle);
        return object;
    }

    /** A native object that can't be waited for. */
    public static NativeObject unwatchable(String type) {
        Loader.ensureLoaded();
        return object(type, Natives.connCfgNew());
    }
}
