// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Access;
import io.rpma.internal.RdmacmAccess;
import io.rpma.internal.Resource;
import io.rpma.internal.loop.PeerProbe;
import io.rpma.internal.loop.Source;
import java.util.concurrent.TimeUnit;

/** Gives the other packages of the module access to package-private members. */
final class FacadeAccess extends Access {
    /** Called by {@link Access}, which finds this class by its name. */
    private FacadeAccess() {}

    @Override
    public RuntimeException exception(String operation, int code, int errno, String detail, String hint) {
        return new RpmaException(operation, RpmaError.of(code), errno, detail, hint);
    }

    @Override
    public Resource object(RpmaMemory memory) {
        return memory.object();
    }

    @Override
    public Resource object(AutoCloseable facade) {
        if (facade instanceof RpmaEventLoop) {
            return ((RpmaEventLoop) facade).engine().poller().object();
        }
        if (facade instanceof RpmaConn) {
            return ((RpmaConn) facade).object();
        }
        if (facade instanceof RpmaMrLocal) {
            return ((RpmaMrLocal) facade).object();
        }
        if (facade instanceof RpmaMrRemote) {
            return ((RpmaMrRemote) facade).object();
        }
        if (facade instanceof RpmaConnReq) {
            return ((RpmaConnReq) facade).object();
        }
        if (facade instanceof RpmaEp) {
            return ((RpmaEp) facade).object();
        }
        if (facade instanceof RpmaSrq) {
            return ((RpmaSrq) facade).object();
        }
        if (facade instanceof RpmaPeer) {
            return ((RpmaPeer) facade).object();
        }
        if (facade instanceof RpmaMemory) {
            return ((RpmaMemory) facade).object();
        }
        if (facade instanceof RpmaConnCfg) {
            return ((RpmaConnCfg) facade).object();
        }
        if (facade instanceof RpmaSrqCfg) {
            return ((RpmaSrqCfg) facade).object();
        }
        if (facade instanceof RpmaPeerCfg) {
            return ((RpmaPeerCfg) facade).object();
        }
        return RdmacmAccess.get().object(facade);
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
    public boolean removeProbe(RpmaCompletions completions, PeerProbe probe) {
        return completions.removeProbe(probe);
    }

    @Override
    public RpmaEventLoop.Registration register(RpmaEventLoop loop, Source<?> source) {
        return loop.register(source);
    }

    @Override
    public <T> RpmaEventLoop.Registration check(
            RpmaEventLoop loop,
            PeerProbe probe,
            T source,
            long period,
            long limit,
            TimeUnit unit,
            RpmaEventLoop.Handler<? super T> handler) {
        return loop.check(probe, source, period, limit, unit, handler);
    }
}
