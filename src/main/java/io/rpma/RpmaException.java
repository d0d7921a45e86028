// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Errno;

/**
 * A call of librpma, librdmacm or the system failed.
 *
 * <p>The message names the C function, the error, its cause, and the remedy if one is known. The cause of a failure of
 * librpma is the text that librpma logged for the call, because librpma reports it nowhere else. The cause of any other
 * failure is the system's error. Invalid arguments and closed objects raise {@link IllegalArgumentException},
 * {@link NullPointerException}, {@link IndexOutOfBoundsException} or {@link IllegalStateException} instead.
 */
public final class RpmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final RpmaError error;
    private final String detail;
    private final int errno;
    private final String errnoName;

    /**
     * @param errno the error of librdmacm or the system, or of the messages of librpma in {@code detail}; 0 for none
     * @param hint the remedy, or an empty text
     */
    RpmaException(String operation, RpmaError error, int errno, String detail, String hint) {
        this(
                operation + " failed: " + error.message() + " (" + error + ")"
                        + (detail.isEmpty() ? "" : ": " + detail)
                        + (errno == 0 || detail.contains(Errno.FAILED) ? "" : " (" + Errno.name(errno) + ")"),
                hint,
                operation,
                error,
                errno,
                detail);
    }

    private RpmaException(String message, String hint, String operation, RpmaError error, int errno, String detail) {
        super(message + (hint.isEmpty() ? "" : "; " + hint));
        this.operation = operation;
        this.error = error;
        this.detail = detail;
        this.errno = errno;
        errnoName = errno == 0 ? "" : Errno.name(errno);
    }

    /** Returns this exception with one more remedy. */
    RpmaException with(String hint) {
        return new RpmaException(getMessage(), hint, operation, error, errno, detail);
    }

    /** {@return the C function that failed, for example {@code rpma_mr_reg}} */
    public String operation() {
        return operation;
    }

    /** {@return the error of librpma; {@link RpmaError#PROVIDER} for a failure of librdmacm or the system} */
    public RpmaError error() {
        return error;
    }

    /**
     * {@return the messages that librpma logged for this call, joined by semicolons, or an empty text; for a failure of
     * librdmacm or the system, the text of {@link #errno()}}
     */
    public String detail() {
        return detail;
    }

    /**
     * {@return the error number of the system, for example 110 for {@code ETIMEDOUT}; 0 if there is none}
     *
     * <p>For a failure of librpma, this is the error of the first message in {@link #detail()} that ends with
     * {@code failed:} and the text of an error. A failure of {@code rdma_getaddrinfo}, and the refusal of an argument,
     * have no such message.
     */
    public int errno() {
        return errno;
    }

    /** {@return the name of {@link #errno()}, for example {@code ECONNREFUSED}; empty if there is none} */
    public String errnoName() {
        return errnoName;
    }
}
