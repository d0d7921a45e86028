// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.nio.charset.StandardCharsets;

/**
 * The errors of librpma.
 *
 * <p>{@link #NO_COMPLETION} and {@link #NO_EVENT} are results, and never raised as exceptions.
 *
 * <p>Manual page: <a href="https://pmem.io/rpma/manpages/v1.3.0/rpma_err_2str.3">rpma_err_2str(3)</a>.
 */
public enum RpmaError {
    /** An error of unknown kind. */
    UNKNOWN(-100000),
    /** Not supported by the device, the platform or the configuration of the object. */
    NOSUPP(Result.NOSUPP),
    /** The verbs provider, librdmacm or the kernel failed; {@link RpmaException#detail()} has the cause. */
    PROVIDER(Result.PROVIDER),
    /** Out of memory. */
    NOMEM(Result.NOMEM),
    /** An argument is invalid. */
    INVAL(-100004),
    /** No completion is available. */
    NO_COMPLETION(Result.NO_COMPLETION),
    /** No event is available. */
    NO_EVENT(Result.NO_EVENT),
    /** A temporary error. */
    AGAIN(-100007),
    /** The completion channel is shared: threads can't wait for one of its queues alone. */
    SHARED_CHANNEL(-100008),
    /** The completion channel is not shared. */
    NOT_SHARED_CHNL(-100009);

    private final int code;

    RpmaError(int code) {
        this.code = code;
    }

    /** {@return the value of the C constant} */
    public int code() {
        return code;
    }

    /**
     * {@return librpma's text for the error}
     *
     * @throws UnsatisfiedLinkError if the native library can't be loaded
     */
    public String message() {
        Loader.ensureLoaded();
        return new String(Natives.errorMessage(code), StandardCharsets.UTF_8);
    }

    /** The error with this code; {@link #UNKNOWN} for a code that is not in librpma 1.3.0. */
    static RpmaError of(int code) {
        for (RpmaError error : values()) {
            if (error.code == code) {
                return error;
            }
        }
        return UNKNOWN;
    }
}
