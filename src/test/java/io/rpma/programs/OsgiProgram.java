// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import java.util.Arrays;
import java.util.Map;
import java.util.ServiceLoader;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/** Runs the main class of a bundle in an OSGi framework. */
public final class OsgiProgram {
    private static final int OWN_ARGUMENTS = 4;

    private OsgiProgram() {}

    /**
     * Arguments: a directory for the framework, the library and its fragments with blanks between, the bundle, its main
     * class, and the arguments of the class.
     */
    public static void main(String[] arguments) throws Exception {
        Framework framework = ServiceLoader.load(FrameworkFactory.class)
                .findFirst()
                .orElseThrow()
                .newFramework(Map.of(Constants.FRAMEWORK_STORAGE, arguments[0]));
        framework.start();
        try {
            BundleContext context = framework.getBundleContext();
            String[] bundles = arguments[1].split(" ");
            Bundle library = context.installBundle(bundles[0]);
            for (String fragment : Arrays.copyOfRange(bundles, 1, bundles.length)) {
                context.installBundle(fragment);
            }
            Bundle application = context.installBundle(arguments[2]);
            library.start();
            application.start();
            System.out.println(library.getSymbolicName() + " " + library.getVersion());
            application
                    .loadClass(arguments[3])
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(arguments, OWN_ARGUMENTS, arguments.length));
        } finally {
            framework.stop();
            framework.waitForStop(0);
        }
    }
}
