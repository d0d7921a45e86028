// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Loads the library in several class loaders, and sets or clears io.rpma.library before each. */
public final class ClassLoadersProgram {
    private ClassLoadersProgram() {}

    /** Arguments: the jar, then for each class loader the path of the library, or "-" for the packaged one. */
    public static void main(String[] arguments) throws Exception {
        URL[] jar = {Path.of(arguments[0]).toUri().toURL()};
        for (int i = 1; i < arguments.length; i++) {
            if (arguments[i].equals("-")) {
                System.clearProperty("io.rpma.library");
            } else {
                System.setProperty("io.rpma.library", arguments[i]);
            }
            System.out.println(i + ": " + load("io.rpma", new NamedLoader("loader " + i, jar)));
        }
    }

    /** Loads the copy of the library in a package. */
    static String load(String copy, ClassLoader loader) throws ReflectiveOperationException {
        Class<?> type = Class.forName(copy + ".RpmaConnCfg", true, loader);
        try {
            Object cfg = type.getMethod("create").invoke(null);
            type.getMethod("close").invoke(cfg);
            return "loaded";
        } catch (InvocationTargetException e) {
            return e.getCause().toString();
        }
    }

    static final class NamedLoader extends URLClassLoader {
        NamedLoader(String name, URL... jar) {
            super(name, jar, null);
        }

        @Override
        public String toString() {
            return getName();
        }
    }
}
