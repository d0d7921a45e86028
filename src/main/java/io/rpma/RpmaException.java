package io.rpma;

/**
 * A call of librpma failed.
 *
 * <p>The message names the C function, the error, what librpma logged for this call, which is the only place where it
 * tells the cause, and what to do about it where that is known. Wrong arguments and closed objects never come this far:
 * they raise {@link IllegalArgumentException}, {@link NullPointerException}, {@link IndexOutOfBoundsException} or
 * {@link IllegalStateException}.
 */
public final class RpmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final RpmaError error;
    private final String detail;

    RpmaException(String operation, RpmaError error, String detail, String hint) {
        super(operation + " failed: " + error.message() + " (" + error + ")"
                + (detail.isEmpty() ? "" : ": " + detail)
                + (hint.isEmpty() ? "" : "; " + hint));
        this.operation = operation;
        this.error = error;
        this.detail = detail;
    }

    /** {@return the C function that failed, for example {@code rpma_mr_reg}} */
    public String operation() {
        return operation;
    }

    /** {@return librpma's error} */
    public RpmaError error() {
        return error;
    }

    /** {@return what librpma logged for this call, its messages joined by semicolons; empty if nothing} */
    public String detail() {
        return detail;
    }
}
