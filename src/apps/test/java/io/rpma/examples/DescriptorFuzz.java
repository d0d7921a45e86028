// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples;

import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeerCfg;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads descriptors of memory regions and peer configurations from any bytes. */
public final class DescriptorFuzz {
    private DescriptorFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        ByteBuffer region = ByteBuffer.wrap(bytes);
        try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(region)) {
            check(region.position() == RpmaMrLocal.DESCRIPTOR_SIZE, "the position is " + region.position());
            check(remote.getSize() > 0, "the size is " + remote.getSize());
            check(!remote.usages().isEmpty(), "no usage");
            check(remote.getFlushType().size() <= RpmaFlushType.values().length, "too many flush types");
        } catch (IllegalArgumentException e) {
            check(region.position() == 0, "a refused descriptor is consumed");
        }
        try (RpmaPeerCfg cfg = RpmaPeerCfg.fromDescriptor(bytes)) {
            byte[] descriptor = cfg.getDescriptor();
            try (RpmaPeerCfg copy = RpmaPeerCfg.fromDescriptor(descriptor)) {
                check(Arrays.equals(descriptor, copy.getDescriptor()), "the copy differs");
            }
        } catch (IllegalArgumentException e) {
            check(bytes.length < RpmaPeerCfg.DESCRIPTOR_SIZE, "refused: " + e);
        }
    }

    private static void check(boolean holds, String problem) {
        if (!holds) {
            throw new AssertionError(problem);
        }
    }
}
