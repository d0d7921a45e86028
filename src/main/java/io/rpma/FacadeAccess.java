package io.rpma;

import io.rpma.internal.Access;
import io.rpma.internal.LoopSource;
import io.rpma.internal.NativeObject;
import java.util.concurrent.Executor;

/** Gives the other packages of the module access to package-private members. */
final class FacadeAccess extends Access {
    /** Called by {@link Access}, which finds this class by its name. */
    private FacadeAccess() {}

    @Override
    public RuntimeException exception(String operation, int code, int errno, String detail, String hint) {
        return new RpmaException(operation, RpmaError.of(code), errno, detail, hint);
    }

    @Override
    public NativeObject object(RpmaMemory memory) {
        return memory.object();
    }

    @Override
    public void markWrittenByDevices(RpmaMemory memory) {
        memory.markWrittenByDevices();
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

    @Override
    public RpmaEventLoop.Registration register(RpmaEventLoop loop, LoopSource<?> source, Executor executor) {
        return loop.register(source, executor);
    }
}
