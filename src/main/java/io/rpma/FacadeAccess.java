package io.rpma;

import io.rpma.internal.Access;
import io.rpma.internal.NativeObject;

/** Opens what this package hides from users to the rest of the module. */
final class FacadeAccess extends Access {
    /** For {@link Access}, which finds it by its name. */
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
}
