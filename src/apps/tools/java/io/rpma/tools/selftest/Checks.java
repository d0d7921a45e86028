// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import io.rpma.support.Errors;
import io.rpma.support.LostException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Runs the operations one after the other, each on a connection of its own, because a failure breaks a connection. */
final class Checks {
    private final List<Check> done = new ArrayList<>();
    private final Consumer<Check> progress;

    /** The number of last operations that have lost the other side. */
    private int lost;

    /**
     * Makes an empty list.
     *
     * @param progress gets each result
     */
    Checks(Consumer<Check> progress) {
        this.progress = progress;
    }

    /** An operation, and the comparison of its bytes. */
    interface Body {
        void run() throws IOException, InterruptedException;
    }

    /**
     * Runs an operation.
     *
     * @param required whether each device must have the operation
     * @throws LostException if it is the first operation, and the other side does not answer
     */
    void run(String library, String operation, boolean required, Body body) throws IOException, InterruptedException {
        if (lost > 1) {
            add(new Check(library, operation, Check.Result.FAILED, "not tried: the other side is lost"));
            return;
        }
        try {
            body.run();
            lost = 0;
            add(new Check(library, operation, Check.Result.OK, ""));
        } catch (End.RefusedException e) {
            Check.Result result = required ? Check.Result.FAILED : Check.Result.UNSUPPORTED;
            add(new Check(library, operation, result, Errors.line(e)));
        } catch (LostException e) {
            if (done.isEmpty()) {
                throw e;
            }
            lost++;
            add(new Check(library, operation, Check.Result.FAILED, Errors.line(e)));
        } catch (IOException | RuntimeException e) {
            add(new Check(library, operation, Check.Result.FAILED, Errors.line(e)));
        }
    }

    private void add(Check check) {
        done.add(check);
        progress.accept(check);
    }

    /** Returns the results so far. */
    List<Check> done() {
        return done;
    }

    /** Returns the number of operations with a result. */
    long count(Check.Result result) {
        return done.stream().filter(check -> check.result() == result).count();
    }
}
