// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

/** A failure that the library has reported by a completion, by an event, or by the end of the time limit. */
final class ReportedException extends Exception {
    private static final long serialVersionUID = 1L;

    ReportedException(Object report) {
        super(report.toString());
    }
}
