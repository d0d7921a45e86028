// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

/**
 * The result of a check.
 *
 * @param subject the checked part of the machine
 * @param detail the state of the part
 * @param remedy the command that mends it; empty if none is needed or known
 */
record Finding(State state, String subject, String detail, String remedy) {
    /** How good the result is. */
    enum State {
        /** As it should be. */
        OK("green"),
        /** A feature that only some programs need is not set up. */
        NONE("faint"),
        /** Some programs will fail. */
        WARNING("yellow"),
        /** No program can use RDMA. */
        MISSING("red");

        /** The colour on a terminal. */
        final String colour;

        State(String colour) {
            this.colour = colour;
        }
    }

    /** The finding for a part that is not required, because another one does its work. */
    Finding notRequired() {
        return state == State.MISSING ? warning(subject, detail, remedy) : this;
    }

    static Finding ok(String subject, String detail) {
        return new Finding(State.OK, subject, detail, "");
    }

    static Finding none(String subject, String detail, String remedy) {
        return new Finding(State.NONE, subject, detail, remedy);
    }

    static Finding warning(String subject, String detail, String remedy) {
        return new Finding(State.WARNING, subject, detail, remedy);
    }

    static Finding missing(String subject, String detail, String remedy) {
        return new Finding(State.MISSING, subject, detail, remedy);
    }
}
