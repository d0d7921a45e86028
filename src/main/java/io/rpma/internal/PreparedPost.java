// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;

/**
 * The post of {@code RdmaPreparedBatch}. On JDK 22 and later, it is a critical call of {@code java.lang.foreign}: the thread stays
 * in the state of Java code. This takes less time than the transition of JNI. On earlier JDKs, it is a call of JNI.
 *
 * <p>A safepoint of the JVM, for example of its garbage collector, waits for the end of a critical call. So the C function takes no
 * lock of the shim, and leaves a post of more than 64 operations to JNI.
 *
 * <p>The initialisation of this class needs the shim, and takes about 50 ms on JDK 22 and later.
 */
public final class PreparedPost {
    /** The result of the C function for a post that needs JNI. */
    static final long NOT_TAKEN = -1;

    /** The first JDK that has critical calls without a preview. */
    private static final int FIRST_JDK = 22;

    /** The first JDK on which the loading of the shim needs the same permission as a critical call, and has printed the warning. */
    private static final int FIRST_CHECKED_LOAD = 24;

    /** (long address, long range) to long; null without critical calls. */
    private static final MethodHandle DIRECT = find();

    private PreparedPost() {}

    /** {@return whether posts are critical calls} Call it only if the shim is loaded. */
    public static boolean isCritical() {
        return DIRECT != null;
    }

    /**
     * Posts.
     *
     * @param address as for {@link Natives#rdmaPreparedPost}
     * @param range as for {@link Natives#rdmaPreparedPost}
     * @return as for {@link Natives#rdmaPreparedPost}
     */
    public static long post(long address, long range) {
        if (DIRECT != null) {
            long result = direct(address, range);
            if (result != NOT_TAKEN) {
                return result;
            }
        }
        return Natives.rdmaPreparedPost(address, range);
    }

    private static long direct(long address, long range) {
        try {
            return (long) DIRECT.invokeExact(address, range);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a C function throws nothing", e);
        }
    }

    /**
     * Returns the function as a critical call, or null if this JVM can't make such calls. A native image would have to register the
     * call at its build.
     */
    private static MethodHandle find() {
        if (Runtime.version().feature() < FIRST_JDK
                || System.getProperty("org.graalvm.nativeimage.imagecode") != null) {
            return null;
        }
        try {
            return isPermitted() ? link(Natives.rdmaPreparedPostFunction()) : null;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError | VirtualMachineError e) {
            // A JVM without this linker, without memory, or at the end of the stack: JNI does the same. If the
            // initialisation of this class failed, it would fail for good, and there would be no post at all.
            return null;
        }
    }

    /** Returns whether a critical call prints no warning. JDK 22 and 23 permit the loading of the shim without a warning. */
    private static boolean isPermitted() throws ReflectiveOperationException {
        return Runtime.version().feature() >= FIRST_CHECKED_LOAD
                || (boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(PreparedPost.class.getModule());
    }

    /** Makes the critical call. The look-ups are reflective, because the classes are compiled for JDK 17. */
    private static MethodHandle link(long function) throws ReflectiveOperationException {
        Class<?> option = Class.forName("java.lang.foreign.Linker$Option");
        Object options = Array.newInstance(option, 1);
        Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, false));
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> descriptor = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> linker = Class.forName("java.lang.foreign.Linker");
        Method downcall = linker.getMethod("downcallHandle", segment, descriptor, options.getClass());
        return (MethodHandle) downcall.invoke(
                linker.getMethod("nativeLinker").invoke(null),
                segment.getMethod("ofAddress", long.class).invoke(null, function),
                descriptorOfTwoLongs(descriptor),
                options);
    }

    /** Returns the descriptor of a C function (long, long) to long. */
    private static Object descriptorOfTwoLongs(Class<?> descriptor) throws ReflectiveOperationException {
        Class<?> layout = Class.forName("java.lang.foreign.MemoryLayout");
        Object ofLong = Class.forName("java.lang.foreign.ValueLayout")
                .getField("JAVA_LONG")
                .get(null);
        Object arguments = Array.newInstance(layout, 2);
        Array.set(arguments, 0, ofLong);
        Array.set(arguments, 1, ofLong);
        return descriptor.getMethod("of", layout, arguments.getClass()).invoke(null, ofLong, arguments);
    }
}
