// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

/**
 * The result of one operation.
 *
 * @param library the library that posted it: librpma or librdmacm
 * @param reason why the operation is unsupported or has failed; empty if it has not
 */
record Check(String library, String operation, Result result, String reason) {
    /** Whether an operation has moved the right bytes. */
    enum Result {
        OK("green"),
        /** The device, or the device of the other side, refuses an operation that not all devices have. */
        UNSUPPORTED("yellow"),
        FAILED("red");

        final String colour;

        Result(String colour) {
            this.colour = colour;
        }
    }
}
