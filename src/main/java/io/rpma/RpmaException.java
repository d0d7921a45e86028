package io.rpma;

import io.rpma.internal.Errno;

/**
 * A call of librpma, librdmacm or the system failed.
 *
 * <p>The message names the C function, the error, its cause, and what to do about it where that is known. The cause is for
 * librpma what it logged for this call, because it tells it nowhere else, and for the others the system's error. Wrong
 * arguments and closed objects never come this far: they raise {@link IllegalArgumentException},
 * {@link NullPointerException}, {@link IndexOutOfBoundsException} or {@link IllegalStateException}.
 */
public final class RpmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final RpmaError error;
    private final String detail;
    private final int errno;
    private final String errnoName;

    /**
     * @param errno of librdmacm or the system; 0 for a failure of librpma
     * @param hint what to do about it, or an empty text
     */
    RpmaException(String operation, RpmaError error, int errno, String detail, String hint) {
        this(operation, error, errno, errno == 0 ? "" : Errno.name(errno), detail, hint);
    }

    private RpmaException(String operation, RpmaError error, int errno, String errnoName, String detail, String hint) {
        super(operation + " failed: " + error.message() + " (" + error + ")"
                + (detail.isEmpty() ? "" : ": " + detail)
                + (errnoName.isEmpty() ? "" : " (" + errnoName + ")")
                + (hint.isEmpty() ? "" : "; " + hint));
        this.operation = operation;
        this.error = error;
        this.detail = detail;
        this.errno = errno;
        this.errnoName = errnoName;
    }

    /** {@return the C function that failed, for example {@code rpma_mr_reg}} */
    public String operation() {
        return operation;
    }

    /** {@return librpma's error; {@link RpmaError#PROVIDER} for a call of librdmacm or the system} */
    public RpmaError error() {
        return error;
    }

    /**
     * {@return what librpma logged for this call, its messages joined by semicolons, empty if nothing; or the text of
     * {@link #errno()}}
     */
    public String detail() {
        return detail;
    }

    /** {@return the system's error with which the call failed; 0 for one of librpma, which does not tell it} */
    public int errno() {
        return errno;
    }

    /** {@return the name of {@link #errno()}, for example {@code ECONNREFUSED}; empty for a call of librpma} */
    public String errnoName() {
        return errnoName;
    }
}
