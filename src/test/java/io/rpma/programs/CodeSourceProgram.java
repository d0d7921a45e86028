// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;

/** Loads the library in a class loader whose classes name a code source other than the jar that contains them. */
public final class CodeSourceProgram {
    private CodeSourceProgram() {}

    /** Arguments: the jar, then the code source as a URL, or "-" for none. */
    public static void main(String[] arguments) throws Exception {
        URL place = arguments[1].equals("-") ? null : new URL(arguments[1]);
        try (PlacedLoader loader =
                new PlacedLoader(Path.of(arguments[0]).toUri().toURL(), place)) {
            System.out.println(ClassLoadersProgram.load("io.rpma", loader));
        }
    }

    private static final class PlacedLoader extends URLClassLoader {
        private final ProtectionDomain place;

        PlacedLoader(URL jar, URL place) {
            super(new URL[] {jar}, null);
            this.place = new ProtectionDomain(new CodeSource(place, (Certificate[]) null), null);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try (InputStream stream = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (stream == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = stream.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length, place);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
