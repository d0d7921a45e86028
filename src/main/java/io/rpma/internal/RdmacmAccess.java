// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

/** Gives {@code io.rpma} access to the package-private members of {@code io.rpma.rdmacm}. */
public abstract class RdmacmAccess {
    private static final String IMPLEMENTATION = "io.rpma.rdmacm.FacadeAccess";

    private static volatile RdmacmAccess instance;

    /** For the implementation, which is a class of {@code io.rpma.rdmacm}. */
    protected RdmacmAccess() {}

    /** {@return the implementation} */
    public static RdmacmAccess get() {
        if (instance == null) {
            instance = Access.make(RdmacmAccess.class, IMPLEMENTATION);
        }
        return instance;
    }

    /**
     * {@return the native object of a facade, or null if the object is not a facade of a native object}
     *
     * @param facade the object
     */
    public abstract Resource object(AutoCloseable facade);
}
