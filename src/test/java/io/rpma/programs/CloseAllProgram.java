// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaSrqCfg;
import java.util.ArrayList;
import java.util.List;

/** Closes the same objects at once and one by one, and prints a line before and after each of both. */
public final class CloseAllProgram {
    /** The number of native objects with a handle. */
    public static final int OBJECTS = 1200;

    /** Printed around the close of all objects. */
    public static final String AT_ONCE = "at once";

    /** Printed around the closes of single objects. */
    public static final String ONE_BY_ONE = "one by one";

    private CloseAllProgram() {}

    /** Takes no arguments. */
    public static void main(String[] arguments) throws Exception {
        List<AutoCloseable> objects = make();
        System.out.println(AT_ONCE);
        RpmaObjects.closeAll(objects);
        System.out.println(AT_ONCE);
        objects = make();
        System.out.println(ONE_BY_ONE);
        for (AutoCloseable object : objects) {
            object.close();
        }
        System.out.println(ONE_BY_ONE);
    }

    private static List<AutoCloseable> make() {
        List<AutoCloseable> objects = new ArrayList<>();
        objects.add(RpmaMemory.allocate(1));
        for (int i = 0; i < OBJECTS; i += 4) {
            objects.add(RpmaConnCfg.create());
            objects.add(RpmaPeerCfg.create());
            objects.add(RpmaSrqCfg.create());
            objects.add(RpmaEventLoop.create());
        }
        return objects;
    }
}
