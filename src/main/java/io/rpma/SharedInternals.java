package io.rpma;

import io.rpma.internal.Internals;
import io.rpma.internal.NativeObject;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Lends the package-private classes of this package to {@code io.rpma.rdmacm}. */
final class SharedInternals extends Internals {
    static {
        set(new SharedInternals());
    }

    private SharedInternals() {}

    private static Handle[] handles(NativeObject[] objects) {
        return Arrays.copyOf(objects, objects.length, Handle[].class);
    }

    @Override
    public void registerRdmacm(Class<?> natives) {
        Loader.ensureLoaded();
        Natives.registerRdmacm(natives);
    }

    @Override
    public NativeObject object(Object facade, String type, NativeObject... parents) {
        return new Handle(facade, type, handles(parents));
    }

    @Override
    public NativeObject object(RpmaMemory memory) {
        return memory.handle();
    }

    @Override
    public void markWrittenByDevices(RpmaMemory memory) {
        memory.markWrittenByDevices();
    }

    @Override
    public long check(String operation, long result, NativeObject... objects) {
        return Call.check(operation, result, handles(objects));
    }

    @Override
    public RuntimeException failure(String operation, long result, NativeObject... objects) {
        return Call.failure(operation, result, handles(objects));
    }

    @Override
    public void withhold() {
        Log.withhold();
    }

    @Override
    public void deliver() {
        Log.deliver();
    }

    @Override
    public RuntimeException failure(String operation, int errno, String detail) {
        return new RpmaException(operation, errno, detail, "");
    }

    @Override
    public void checkRange(String region, long offset, long length, long size) {
        Check.range(region, offset, length, size);
    }

    @Override
    public boolean await(String operation, NativeObject object, long nanos) throws InterruptedException {
        return Waiter.await(operation, (Handle) object, nanos);
    }

    @Override
    public boolean isVirtual() {
        return Waiter.isVirtual();
    }

    @Override
    public int block(String operation, NativeObject object, long nanos, Blocking blocking) throws InterruptedException {
        return Waiter.block(operation, (Handle) object, nanos, blocking);
    }

    @Override
    public long forever() {
        return Waiter.FOREVER;
    }

    @Override
    public long nanos(long timeout, TimeUnit unit) {
        return Waiter.nanos(timeout, unit);
    }

    @Override
    public long left(long nanos, long start) {
        return Waiter.left(nanos, start);
    }

    @Override
    public long address(ByteBuffer buffer) {
        Loader.ensureLoaded();
        return Natives.bufferAddress(buffer);
    }

    @Override
    public long address(RpmaCompletions completions) {
        return completions.address();
    }

    @Override
    public long address(RpmaCompletions completions, int index) {
        return completions.address(index);
    }

    @Override
    public void filled(RpmaCompletions completions, int count) {
        completions.filled(count);
    }
}
