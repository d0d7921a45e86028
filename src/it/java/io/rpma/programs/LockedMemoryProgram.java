package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/** Registers more memory than the process may lock, and prints the result. */
public final class LockedMemoryProgram {
    private static final int SIZE = 1 << 20;

    private LockedMemoryProgram() {}

    /**
     * @param arguments the device's address
     */
    public static void main(String[] arguments) {
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(arguments[0]));
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.READ_SRC)) {
            System.out.println("registered " + region);
        } catch (RpmaException e) {
            System.out.println(e.getMessage());
        }
    }
}
