package io.rpma.rdmacm;

import io.rpma.internal.Internals;
import io.rpma.internal.NativeObject;
import java.util.function.LongSupplier;

/** What is special to the results of this package's natives: an id may have no device. */
final class Call {
    private static final Internals INTERNALS = Internals.get();

    private Call() {}

    /**
     * Passes a good result of a native through.
     *
     * @param object the object of the call, which names what has no device
     * @throws IllegalStateException if the object is closed or has no device
     */
    static long check(String operation, long result, NativeObject object) {
        return INTERNALS.check(operation, device(operation, result, object), object);
    }

    /**
     * Calls a native that makes something of an id, and passes any result on but that of an id without a device.
     *
     * @param owner the id
     * @throws IllegalStateException if the id has no device
     */
    static long device(String operation, LongSupplier maker, NativeObject owner) {
        return device(operation, maker.getAsLong(), owner);
    }

    private static long device(String operation, long result, NativeObject owner) {
        if (result == Natives.NO_DEVICE) {
            throw new IllegalStateException(operation + ": " + owner
                    + " has no device yet: resolve the other side's address, or bind it to that of a device");
        }
        return result;
    }
}
