// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.RdmacmAccess;
import io.rpma.internal.Resource;

/** Gives {@code io.rpma} access to package-private members. */
final class FacadeAccess extends RdmacmAccess {
    /** Called by {@link RdmacmAccess}, which finds this class by its name. */
    private FacadeAccess() {}

    @Override
    public Resource object(AutoCloseable facade) {
        if (facade instanceof RdmaId) {
            return ((RdmaId) facade).object();
        }
        if (facade instanceof RdmaMr) {
            return ((RdmaMr) facade).object();
        }
        if (facade instanceof RdmaAh) {
            return ((RdmaAh) facade).object();
        }
        return facade instanceof RdmaAddrInfo ? ((RdmaAddrInfo) facade).object() : null;
    }
}
