package io.rpma.programs;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;

/** Loads the library and says what comes of it, twice; also run as a source file, with nothing but the jar. */
public final class LoadProgram {
    private LoadProgram() {}

    /** Prints "loaded" and librpma's default timeout, or the error; then what a failing call says. */
    public static void main(String[] arguments) {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            System.out.println("loaded, " + cfg.getTimeout() + " ms");
        } catch (LinkageError e) {
            System.out.println(e);
            System.out.println("cause: " + e.getCause());
            System.exit(3);
        }
        for (String address : arguments) {
            try {
                System.out.println(RpmaDevice.local(address));
            } catch (RpmaException e) {
                System.out.println("detail: " + e.detail());
            }
        }
    }
}
