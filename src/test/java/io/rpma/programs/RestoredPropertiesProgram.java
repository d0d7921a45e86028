// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.programs.ClassLoadersProgram.NamedLoader;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** Loads the library in several class loaders, and restores the system properties in between, as test frameworks do. */
public final class RestoredPropertiesProgram {
    private RestoredPropertiesProgram() {}

    /** Argument: the jar. Prints what each class loader gets, a failure of the first one, and the number of shims. */
    public static void main(String[] arguments) throws Exception {
        URL jar = Path.of(arguments[0]).toUri().toURL();
        Properties saved = (Properties) System.getProperties().clone();
        ClassLoader first = new NamedLoader("loader 1", jar);
        System.out.println("1: " + ClassLoadersProgram.load("io.rpma", first));
        System.setProperties((Properties) saved.clone());
        System.out.println("2: " + ClassLoadersProgram.load("io.rpma", new NamedLoader("loader 2", jar)));
        System.out.println("3: " + ClassLoadersProgram.load("io.rpma", new NamedLoader("loader 3", jar)));
        System.setProperties(saved);
        System.out.println("4: " + ClassLoadersProgram.load("io.rpma", new NamedLoader("loader 4", jar)));
        System.out.println("1: " + failure(first));
        System.out.println(Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(line -> line.contains("r-xp") && line.contains("/librpma-java.so"))
                        .count()
                + " shims");
    }

    private static Throwable failure(ClassLoader loader) throws ReflectiveOperationException {
        try {
            Class.forName("io.rpma.RpmaDevice", true, loader)
                    .getMethod("local", String.class)
                    .invoke(null, "192.0.2.1");
            throw new AssertionError("192.0.2.1 is the address of a device");
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }
}
